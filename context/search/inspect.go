package search

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/context/search/words"
)

// File is a file of an index, as Inspect finds it.
type File struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // words, vectors, tokens, building, unfinished or unknown
	Bytes int64  `json:"bytes"`
	// Wrong says what is wrong with it, "" when it is sound. Nothing is lost by it:
	// a start makes what is missing anew.
	Wrong string `json:"wrong,omitempty"`

	Seq     uint64       `json:"seq,omitempty"`     // of the store, when the words were written
	Model   *embed.Model `json:"model,omitempty"`   // of the vectors
	Vectors int          `json:"vectors,omitempty"` // those that are of no use any more included
	Notes   int          `json:"notes,omitempty"`   // words or vectors of so many
}

// The kinds of files.
const (
	KindWords      = "words"
	KindVectors    = "vectors"
	KindTokens     = "tokens"     // vectors of words
	KindBuilding   = "building"   // vectors of a model that is to take the place of another
	KindUnfinished = "unfinished" // a writer did not come to its end
	KindUnknown    = "unknown"
)

// Inspect reads the files in the folder of an index and changes nothing. A
// folder that is not there has none. O(their size).
func Inspect(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []File
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a daemon replaces it
		}
		if err != nil {
			return nil, err
		}
		f := File{Name: e.Name(), Kind: kindOf(e.Name()), Bytes: info.Size()}
		if !info.Mode().IsRegular() {
			f.Kind = KindUnknown
		}
		if err := f.read(filepath.Join(dir, e.Name())); err != nil {
			f.Wrong = err.Error()
			var at *fs.PathError
			switch {
			case errors.As(err, &at):
				f.Wrong = "it can't be read: " + at.Err.Error()
			case errors.Is(err, io.EOF):
				f.Wrong = "it is too short"
			}
		}
		files = append(files, f)
	}
	return files, err
}

func kindOf(name string) string {
	tokens := strings.HasPrefix(name, vectors.TokensPrefix)
	vecs := tokens || strings.HasPrefix(name, vectors.FilePrefix)
	switch {
	case name == words.FileName:
		return KindWords
	case vecs && strings.HasSuffix(name, vectors.PartSuffix):
		return KindBuilding
	case strings.HasSuffix(name, vectors.TempSuffix):
		return KindUnfinished
	case tokens:
		return KindTokens
	case vecs:
		return KindVectors
	}
	return KindUnknown
}

// read finds out what a file holds. Its errors say what is wrong with it.
func (f *File) read(name string) error {
	switch f.Kind {
	case KindWords:
		in, err := words.Inspect(name)
		f.Seq, f.Notes = in.Seq, in.Docs
		return err
	case KindVectors, KindTokens, KindBuilding:
		in, err := vectors.InspectFile(name)
		if err != nil {
			return err
		}
		f.Model, f.Vectors, f.Notes = &in.Model, in.Vectors, in.Items
		if in.DamagedBytes > 0 {
			return fmt.Errorf("%d bytes of it are damaged", in.DamagedBytes)
		}
	}
	return nil
}
