package rpc

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const maxBuffers = 1000

// renameTarget returns the vault with the texts that are not saved.
func renameTarget(folder string, buffers []protocol.Buffer) (vault.RenameScope, error) {
	where := vault.RenameScope{Vault: folder, Buffers: make(map[string]string, len(buffers))}
	if len(buffers) > maxBuffers {
		return where, fault.TooLarge("buffers", len(buffers), maxBuffers, "items")
	}
	for _, b := range buffers {
		where.Buffers[b.Path] = b.Text
	}
	return where, nil
}

// sourceIn reads files of a folder, and none outside of it.
func sourceIn(folder string) func(path string) (string, error) {
	return func(path string) (string, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return "", err
		}
		defer root.Close()
		f, err := root.Open(filepath.FromSlash(path))
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxSource))
		return string(data), err
	}
}

// maxSource is how large a file may be whose links are changed.
const maxSource = 16 << 20

// unitOffsets turns bytes of a text into UTF-16 code units of the text without a byte order mark.
type unitOffsets struct {
	text string
	at   int // byte
	units,
	line int // that it is
}

const byteOrderMark = "\uFEFF"

func newUnitOffsets(text string) *unitOffsets {
	p := &unitOffsets{text: text, line: 1}
	if strings.HasPrefix(text, byteOrderMark) {
		p.at = len(byteOrderMark)
	}
	return p
}

// unit returns the code unit of a byte, and has line tell its line. It takes time from the byte that was asked for
// before, and from the beginning for one before that.
func (p *unitOffsets) unit(offset int) int {
	if offset < p.at {
		*p = *newUnitOffsets(p.text)
	}
	if offset > p.at {
		p.units += names.UTF16Len(p.text[p.at:offset])
		p.line += strings.Count(p.text[p.at:offset], "\n")
		p.at = offset
	}
	return p.units
}
