package send

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// What may be attached to a message.
const (
	MaxImages     = 5
	MaxImageBytes = 8 << 20 // of all images
	MaxFiles      = 5
	MaxFileChars  = 20_000 // of each
	maxFileName   = 200    // characters
)

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// attached is what comes with a message for this turn alone.
type attached struct {
	images []llm.Image
	files  []turn.ChatFile
	others bool // notes, entities or memories are named
}

func (a *attached) any() bool { return len(a.images) > 0 || len(a.files) > 0 || a.others }

func (a *attached) bytes() (n int) {
	for _, f := range a.files {
		n += len(f.Name) + len(f.Text)
	}
	return n
}

// text shows the files behind a message. A fence is longer than any row of backticks in its file, so no file can
// end its own.
func (a *attached) text(shown func(string) string) string {
	var b strings.Builder
	for _, f := range a.files {
		body := shown(f.Text)
		fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
		fmt.Fprintf(&b, "\n\nAttached file %q:\n%s\n%s\n%s", shown(f.Name), fence, strings.TrimRight(body, "\n"), fence)
	}
	return b.String()
}

func longestRun(text string, of byte) (longest int) {
	n := 0
	for i := range len(text) {
		if text[i] != of {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// attach checks and reads what is attached to a message. For a remote connection no path is read.
func attach(p *turn.ChatSend, remote bool) (a attached, err error) {
	a.others = len(p.MentionedNoteIDs) > 0 || len(p.MentionedEntityIDs) > 0 || len(p.AttachedMemoryIDs) > 0
	if n := len(p.Images); n > MaxImages {
		return a, fault.TooLarge("images", n, MaxImages, "items")
	}
	total := 0
	for i, image := range p.Images {
		field := fmt.Sprintf("images[%d]", i)
		data, err := bytesOf(image, field, MaxImageBytes-total, remote)
		if err != nil {
			return a, err
		}
		total += len(data)
		kind := http.DetectContentType(data)
		if !slices.Contains(imageTypes, kind) {
			return a, fault.Field(field, "%s is no image that a model takes", field).WithHint("give a PNG, JPEG, GIF or WebP")
		}
		a.images = append(a.images, llm.Image{Type: kind, Data: data})
	}
	if n := len(p.Files); n > MaxFiles {
		return a, fault.TooLarge("files", n, MaxFiles, "items")
	}
	for i, f := range p.Files {
		field := fmt.Sprintf("files[%d].text", i)
		if !utf8.ValidString(f.Text) || !utf8.ValidString(f.Name) {
			return a, fault.Field(field, "the file is not UTF-8").WithHint("give text in UTF-8")
		}
		if n := prompt.Chars(f.Text); n > MaxFileChars {
			return a, fault.TooLarge(field, n, MaxFileChars, "characters").WithHint("give the part that is asked about")
		}
		if n := prompt.Chars(f.Name); n > maxFileName || strings.TrimSpace(f.Name) == "" {
			return a, fault.Field(fmt.Sprintf("files[%d].name", i), "the name of a file has 1 to %d characters", maxFileName).
				WithHint("give the name of the file without its folder")
		}
		if err := checkPlace(f.Path, fmt.Sprintf("files[%d].path", i), remote); err != nil {
			return a, err
		}
		a.files = append(a.files, f)
	}
	return a, nil
}

// bytesOf reads an image.
func bytesOf(image turn.ChatImage, field string, most int, remote bool) ([]byte, error) {
	tooLarge := func() error {
		return fault.New(fault.Limit, "the images have more than %d bytes together", MaxImageBytes).
			WithHint("give fewer or smaller images")
	}
	if (image.Path == "") == (image.Data == "") {
		return nil, fault.Field(field, "an image has either a path or data").WithHint("give one of the two")
	}
	if image.Data != "" {
		if len(image.Data) > base64.StdEncoding.EncodedLen(most)+3 {
			return nil, tooLarge()
		}
		data, err := base64.StdEncoding.DecodeString(image.Data)
		if err != nil {
			return nil, fault.Field(field+".data", "data is no base64").WithHint("give the bytes of the image in base64, without data: before it")
		}
		return data, nil
	}
	if err := checkPlace(image.Path, field+".path", remote); err != nil {
		return nil, err
	}
	data, err := readFile(image.Path, most)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooLarge()
	case err != nil:
		f := fault.Wrap(fault.NotFound, err, "the image can't be read").WithHint("give the path of a file that you can read")
		f.Field = field + ".path"
		return nil, f
	}
	return data, nil
}

// checkPlace refuses a path that says nothing, or would tell a remote connection of one.
func checkPlace(path, field string, remote bool) error {
	switch {
	case path == "":
		return nil
	case remote:
		return fault.Field(field, "the connection is remote, and no file is read for it").WithHint("give what is in the file, without its path")
	case !filepath.IsAbs(path):
		return fault.Field(field, "the path is not absolute").WithHint("give an absolute path")
	}
	return nil
}

var errTooLarge = errors.New("too large")

// readFile reads a regular file of limited size: a pipe or a device would never end.
func readFile(path string, most int) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = errTooLarge
	}
	return data, err
}
