package chats

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxAttached is the largest file that is read to be attached, in bytes. What a message takes is for the daemon to say.
const maxAttached = 16 << 20

// attach has a file go with the next message: a picture, or a text. Without one nothing does.
func (s *conversing) attach(_ context.Context, arg string) error {
	if arg == "" {
		s.files, s.images = nil, nil
		s.faint("nothing is attached")
		return nil
	}
	path, err := absolute(arg)
	if err != nil {
		return err
	}
	data, err := readAttached(path)
	if err != nil {
		return err
	}
	kind := "text"
	if strings.HasPrefix(http.DetectContentType(data), "image/") {
		kind = "picture"
		s.images = append(s.images, turn.ChatImage{Path: path})
	} else {
		if !utf8.Valid(data) {
			return fault.New(fault.Invalid, "%s is neither a text in UTF-8 nor a picture", term.Clean(arg)).
				WithHint("/book %s reads other documents", term.Clean(arg))
		}
		s.files = append(s.files, turn.ChatFile{Name: filepath.Base(path), Text: string(data), Path: path})
	}
	s.failed = nil // with this it is another message
	s.Out.Say(term.Styled(term.Good, "attached"), term.Text("  "+filepath.Base(path)),
		term.Styled(term.Faint, "  "+kind+", "+term.Size(int64(len(data)))+", for the next message"))
	return nil
}

// readAttached reads a file: a pipe or a device would never end.
func readAttached(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil, fault.New(fault.Invalid, "%s is a folder", term.Clean(path)).WithHint("give a file; [[Title]] in a message refers to a note")
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxAttached) {
		return nil, fault.New(fault.Limit, "%s is no file of at most %s", term.Clean(path), term.Size(int64(maxAttached))).
			WithHint("/book %s reads a long document", term.Clean(path))
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, err, "cannot read the file").WithHint("give the path of a file that you can read")
	}
	return data, nil
}
