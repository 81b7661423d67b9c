package transfer

import (
	"archive/zip"
	"cmp"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// maxUnpacked bounds what is unpacked of a .zip, which a small one can claim to be huge.
const maxUnpacked = 64 << 30

// ofConversations matches the names of files with conversations. Large exports of ChatGPT
// have several: conversations-000.json and so on. Google calls its one MyActivity.json, in the language of the account: what
// has none of these names is known by what it holds.
var ofConversations = regexp.MustCompile(`^(?i:(conversations(-[0-9]+)?|MyActivity)\.json)$`)

// isArchive reports whether a file is a .zip by its first bytes.
func isArchive(r io.ReaderAt, size int64) bool {
	var magic [4]byte
	if size < int64(len(magic)) {
		return false
	}
	if _, err := r.ReadAt(magic[:], 0); err != nil {
		return false
	}
	return string(magic[:]) == "PK\x03\x04" || string(magic[:]) == "PK\x05\x06"
}

// inArchive lists the files with conversations in a .zip by their names.
func inArchive(r io.ReaderAt, size int64) ([]file, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, damagedArchive(err)
	}
	var found, others []file
	var unpacked int64
	for _, f := range archive.File {
		name := path.Clean(strings.ReplaceAll(f.Name, `\`, "/"))
		if slices.Contains(strings.Split(name, "/"), "__MACOSX") {
			continue
		}
		if !ofConversations.MatchString(path.Base(name)) {
			if strings.EqualFold(path.Ext(name), ".json") && f.UncompressedSize64 <= maxUnpacked && len(others) < maxLogs {
				others = append(others, file{name: name, size: int64(f.UncompressedSize64), open: f.Open})
			}
			continue
		}
		found = append(found, file{name: name, size: int64(f.UncompressedSize64), open: f.Open})
	}
	if found == nil {
		for _, f := range others {
			if isActivity(f.head()) {
				found = append(found, f)
			}
		}
	}
	for _, f := range found {
		if f.size < 0 || f.size > maxUnpacked-unpacked {
			return nil, fault.New(fault.Limit, "the .zip unpacks to more than %d GiB of conversations", maxUnpacked>>30).
				WithHint("Unpack it and give its conversations.json.")
		}
		unpacked += f.size
	}
	if found == nil {
		return nil, fault.New(fault.Invalid, "the .zip has no conversations.json, and no activity of Gemini").
			WithHint("Give the .zip of a data export of ChatGPT, Claude or Gemini as it was downloaded; of Google, with the format JSON.")
	}
	slices.SortStableFunc(found, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return found, nil
}

func damagedArchive(err error) error {
	return fault.Wrap(fault.Invalid, err, "the .zip is damaged or not a whole one").
		WithHint("Download the export again, or unpack what is readable and give its conversations.json.")
}
