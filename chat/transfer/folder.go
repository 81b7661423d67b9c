package transfer

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// foreignFile is a file of a folder: the logs of a coding agent.
type foreignFile struct {
	name string
	size int64
	open func() (io.ReaderAt, io.Closer, error)
}

// maxLogs is how many files of a folder are read.
const maxLogs = 100_000

// logsIn lists what may be logs in a folder, by their names: *.jsonl and *.json in it and below it. Links are not followed.
// A folder in which OpenCode keeps a session in many files has one for each session.
func logsIn(root *os.Root) (list []foreignFile, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what can't be read is not there for an import
		}
		if len(list) == maxLogs {
			return fault.New(fault.Limit, "the folder has more than %d files", maxLogs).WithHint("give the folder of one project")
		}
		switch ext := strings.ToLower(path.Ext(name)); {
		case strings.Contains("/"+name, "/session/") && strings.HasPrefix(d.Name(), "ses_") && ext == ".json":
			list = append(list, foreignFile{name, sizeOf(d), func() (io.ReaderAt, io.Closer, error) { return openCodeSession(root, name) }})
		case strings.Contains("/"+name, "/message/ses_") || strings.Contains("/"+name, "/part/msg_"): // of such a session
		case ext == ".jsonl" || ext == ".json":
			list = append(list, foreignFile{name, sizeOf(d), func() (io.ReaderAt, io.Closer, error) {
				f, err := root.Open(name)
				return f, f, err
			}})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b foreignFile) int { return strings.Compare(a.name, b.name) })
	return list, err
}

func sizeOf(d fs.DirEntry) int64 {
	info, err := d.Info()
	if err != nil {
		return 0
	}
	return info.Size()
}

// openCodeSession puts together what OpenCode keeps of a session: storage/session/PROJECT/ses_X.json,
// storage/message/ses_X/msg_Y.json and storage/part/msg_Y/prt_Z.json, as its own export has it.
func openCodeSession(root *os.Root, name string) (io.ReaderAt, io.Closer, error) {
	info, err := root.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	at := strings.LastIndex("/"+name, "/session/")
	storage := name[:max(0, at-1)] // without a slash at its end
	id := strings.TrimSuffix(path.Base(name), ".json")
	size := len(info)
	read := func(folder string) (list []json.RawMessage) {
		entries, _ := fs.ReadDir(root.FS(), folder) // one that is missing is empty
		for _, e := range entries {
			raw, err := root.ReadFile(path.Join(folder, e.Name()))
			if size += len(raw); err == nil && json.Valid(raw) && size <= standard.conversation {
				list = append(list, raw)
			}
		}
		return list
	}
	type message struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	}
	messages := []message{}
	for _, m := range read(path.Join(storage, "message", id)) {
		messages = append(messages, message{m, read(path.Join(storage, "part", text(member(m, "id"))))})
	}
	if !json.Valid(info) {
		info = []byte("{}")
	}
	whole, err := json.Marshal(map[string]any{"info": json.RawMessage(info), "messages": messages})
	return bytes.NewReader(whole), io.NopCloser(nil), err
}

// add puts the report of a file of a folder with those before it.
func (r *ReadReport) add(name string, of ReadReport) {
	r.Files += of.Files
	r.Conversations += of.Conversations
	r.Messages += of.Messages
	r.Empty += of.Empty
	r.Repeated += of.Repeated
	r.Incomplete += of.Incomplete
	r.Branches += of.Branches
	r.LeftOut.add(of.LeftOut)
	r.Attachments += of.Attachments
	r.Skipped += of.Skipped
	for _, p := range of.Problems {
		if p.File = name; len(r.Problems) < maxProblems {
			r.Problems = append(r.Problems, p)
		}
	}
}
