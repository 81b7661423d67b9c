package vault

import (
	"errors"
	"fmt"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// A record of a file is
//
//	format     one byte, 1
//	flags      one byte, 1 for a private folder
//	texts      note id, hash, warning, type
//	list       problems
//	numbers    one that nothing reads any more, size, version of the type
//	time       modified, as nanoseconds since 1970, zigzag
//
// Texts, lists and numbers are those of package kv. Older records are JSON.
const (
	fileFormat  = 1
	filePrivate = 1
)

var (
	errFileRecord = errors.New("malformed record of a file")
	jsonFiles     = kv.JSON[file]()
)

func encodeFile(f *file) (string, error) {
	if f.Size < 0 || f.TypeVersion < 0 {
		return "", fmt.Errorf("%d bytes, version %d", f.Size, f.TypeVersion)
	}
	b := append(make([]byte, 0, 192), fileFormat, 0)
	if f.Private {
		b[1] = filePrivate
	}
	for _, s := range [...]string{f.NoteID, f.Hash, f.Warning, f.Type} {
		b = disk.AppendText(b, s)
	}
	b = disk.AppendTexts(b, f.Problems)
	for _, n := range [...]uint64{
		0, uint64(f.Size), uint64(f.TypeVersion),
		uint64(f.Modified)<<1 ^ uint64(f.Modified>>63),
	} {
		b = disk.AppendUint(b, n)
	}
	return string(b), nil
}

func decodeFile(s string) (*file, error) {
	if s != "" && s[0] == '{' {
		return jsonFiles.Decode(s)
	}
	r := disk.RecordReader{Rest: s}
	if r.Byte() != fileFormat {
		return nil, errFileRecord
	}
	flags := r.Byte()
	f := &file{NoteID: r.Text(), Hash: r.Text(), Warning: r.Text(), Type: r.Text(), Private: flags == filePrivate}
	if list := r.Texts(); len(list) > 0 {
		f.Problems = list
	}
	r.Int() // Markdown links: package notes counts them
	f.Size, f.TypeVersion = int64(r.Int()), r.Int()
	n := r.Uint()
	f.Modified = int64(n>>1) ^ -int64(n&1)
	if r.Bad || r.Rest != "" || flags > filePrivate {
		return nil, errFileRecord
	}
	return f, nil
}
