package notes

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// A record of a note is
//
//	format     one byte, 2
//	flags      one byte, see below
//	texts      id, title, path, folder, vault, entity, given title
//	lists      tags, aliases, given tags, given aliases
//	times      created, updated, archived and given as archived if there is one
//	number     version
//	text       Places: of each link its start, length and line
//	text       Sources, if there are any
//	the rest   the text of the note
//
// Texts, lists, times and numbers are those of package kv. A note has one record,
// and no other is read: what was read is always what had been written. All texts
// of a note, its own too, are parts of the record.
const recordFormat = 2

// The flags of a record.
const (
	flagPrivate = 1 << iota
	flagVaultBacked
	flagArchived
	flagGivenPrivate
	flagGivenArchived
	flagSources
	allFlags = 1<<iota - 1
)

var errRecord = errors.New("malformed note record")

func encode(n *Note) (string, error) {
	if n.Version < 0 {
		return "", fmt.Errorf("version %d", n.Version)
	}
	given := n.Given.Get()
	flags := flagIf(flagPrivate, n.Private) | flagIf(flagVaultBacked, n.VaultBacked) |
		flagIf(flagArchived, n.ArchivedAt != nil) |
		flagIf(flagGivenPrivate, given.Private) | flagIf(flagGivenArchived, given.Archived != nil) |
		flagIf(flagSources, n.Sources != "")
	b := append(make([]byte, 0, 512), recordFormat, flags)
	for _, s := range [...]string{n.ID, n.Title, n.Path, n.Folder, n.Vault, n.EntityID, given.Title} {
		b = disk.AppendText(b, s)
	}
	for _, list := range [...][]string{n.Tags, n.Aliases, given.Tags, given.Aliases} {
		b = disk.AppendTexts(b, list)
	}
	for _, t := range [...]*time.Time{&n.CreatedAt, &n.UpdatedAt, n.ArchivedAt, given.Archived} {
		if t == nil {
			continue
		}
		var err error
		b, err = disk.AppendTime(b, *t)
		if err != nil {
			return "", err
		}
	}
	b = disk.AppendUint(b, uint64(n.Version))
	b = disk.AppendText(b, string(n.Places))
	if n.Sources != "" {
		b = disk.AppendText(b, string(n.Sources))
	}
	var rec strings.Builder
	rec.Grow(len(b) + len(n.Body))
	rec.Write(b)
	rec.WriteString(n.Body)
	return rec.String(), nil
}

func flagIf(flag byte, set bool) byte {
	if set {
		return flag
	}
	return 0
}

func decode(s string) (*Note, error) {
	n, err := readRecord(s)
	if err != nil || !n.Places.LinksIn(n.Body) {
		return nil, errRecord
	}
	return n, nil
}

// decodeStored is decode for a record that lies in a store, for a start: it looks at
// the text of none. What is stored was decoded once, and is as it was then: a store
// checks that. If it were not, its links would say strange things and no more.
func decodeStored(s string) (*Note, error) {
	n, err := readRecord(s)
	if err != nil || !n.Places.Fit(len(n.Body)) {
		return nil, errRecord
	}
	return n, nil
}

// readRecord reads all but what the places of links mean.
func readRecord(s string) (*Note, error) {
	r := disk.RecordReader{Rest: s}
	if r.Byte() != recordFormat {
		return nil, errRecord
	}
	flags := r.Byte()
	n := new(Note)
	n.ID, n.Title, n.Path, n.Folder, n.Vault, n.EntityID = r.Text(), r.Text(), r.Text(), r.Text(), r.Text(), r.Text()
	n.Kind = FileKind(n.Path)
	n.Private, n.VaultBacked = flags&flagPrivate != 0, flags&flagVaultBacked != 0
	given := Given{Title: r.Text(), Private: flags&flagGivenPrivate != 0}
	n.Tags, n.Aliases = r.Texts(), r.Texts()
	if list := r.Texts(); len(list) > 0 {
		given.Tags = list
	}
	if list := r.Texts(); len(list) > 0 {
		given.Aliases = list
	}
	n.CreatedAt, n.UpdatedAt = r.Time(), r.Time()
	if flags&flagArchived != 0 {
		at := r.Time()
		n.ArchivedAt = &at
	}
	if flags&flagGivenArchived != 0 {
		at := r.Time()
		given.Archived = &at
	}
	n.Given = given.orNil()
	n.Version = r.Int()
	n.Places = LinkPlaces(r.Text())
	if flags&flagSources != 0 {
		n.Sources = Sources(r.Text())
		r.Bad = r.Bad || n.Sources == ""
	}
	n.Body = r.Rest
	if r.Bad || flags > allFlags {
		return nil, errRecord
	}
	return n, nil
}
