package entities

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// A record of an entity is
//
//	format     one byte, 2
//	flags      one byte, see below
//	texts      id, type, name, note
//	list       aliases
//	number     how many values follow
//	values     in the order of their names, of each: the name, one byte for the
//	           kind, and for a text the text, for a number eight bytes, for a
//	           list the list
//	times      created, updated, archived if it is
//	number     version
//	texts      sources, if there are any; vault, if there is one, since format 7 of the store
//
// Texts, lists, times and numbers are those of package kv. An entity has one
// record, and no other is read. All its texts are parts of the record.
const recordFormat = 2

// The flags of a record.
const (
	flagPrivate = 1 << iota
	flagVaultBacked
	flagArchived
	flagSources
	flagVault
	allFlags = 1<<iota - 1
)

// The kinds of values in a record.
const (
	kindText   = 's'
	kindNumber = 'n'
	kindTrue   = 't'
	kindFalse  = 'f'
	kindList   = 'l'
)

var errRecord = errors.New("malformed entity record")

func encode(e *Entity) (_ string, err error) {
	if e.Version < 0 {
		return "", fmt.Errorf("version %d", e.Version)
	}
	flags := flagIf(flagPrivate, e.Private) | flagIf(flagVaultBacked, e.VaultBacked) |
		flagIf(flagArchived, e.ArchivedAt != nil) |
		flagIf(flagSources, e.Sources != "") | flagIf(flagVault, e.Vault != "")
	b := append(make([]byte, 0, 512), recordFormat, flags)
	for _, s := range [...]string{e.ID, e.Type, e.Name, e.NoteID} {
		b = disk.AppendText(b, s)
	}
	b = disk.AppendTexts(b, e.Aliases)
	b = disk.AppendUint(b, uint64(len(e.Fields)))
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		b = disk.AppendText(b, name)
		b, err = appendValue(b, e.Fields[name])
		if err != nil {
			return "", fmt.Errorf("field %q: %w", name, err)
		}
	}
	for _, t := range [...]*time.Time{&e.CreatedAt, &e.UpdatedAt, e.ArchivedAt} {
		if t == nil {
			continue
		}
		b, err = disk.AppendTime(b, *t)
		if err != nil {
			return "", err
		}
	}
	b = disk.AppendUint(b, uint64(e.Version))
	if e.Sources != "" {
		b = disk.AppendText(b, e.Sources)
	}
	if e.Vault != "" {
		b = disk.AppendText(b, e.Vault)
	}
	return string(b), nil
}

func flagIf(flag byte, set bool) byte {
	if set {
		return flag
	}
	return 0
}

func appendValue(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case string:
		return disk.AppendText(append(b, kindText), v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.New("a number that is none")
		}
		return binary.BigEndian.AppendUint64(append(b, kindNumber), math.Float64bits(v)), nil
	case bool:
		if v {
			return append(b, kindTrue), nil
		}
		return append(b, kindFalse), nil
	case []string:
		return disk.AppendTexts(append(b, kindList), v), nil
	}
	return nil, fmt.Errorf("a value of type %T", value)
}

func decode(s string) (*Entity, error) {
	r := disk.RecordReader{Rest: s}
	if r.Byte() != recordFormat {
		return nil, errRecord
	}
	flags := r.Byte()
	e := &Entity{
		ID: r.Text(), Type: r.Text(), Name: r.Text(), NoteID: r.Text(), Aliases: r.Texts(),
		Private: flags&flagPrivate != 0, VaultBacked: flags&flagVaultBacked != 0,
	}
	n := r.Uint()
	if n > uint64(len(r.Rest)) { // each has a byte at least
		return nil, errRecord
	}
	e.Fields = make(Values, min(n, 64)) // what is not a record may claim any number
	last := ""
	for i := range n {
		name := r.Text()
		if i > 0 && name <= last || r.Bad {
			return nil, errRecord
		}
		last = name
		e.Fields[name] = readValue(&r)
	}
	e.CreatedAt, e.UpdatedAt = r.Time(), r.Time()
	if flags&flagArchived != 0 {
		at := r.Time()
		e.ArchivedAt = &at
	}
	e.Version = r.Int()
	if flags&flagSources != 0 {
		e.Sources = r.Text()
		r.Bad = r.Bad || e.Sources == ""
	}
	if flags&flagVault != 0 {
		e.Vault = r.Text()
		r.Bad = r.Bad || e.Vault == ""
	}
	if r.Bad || flags > allFlags || r.Rest != "" {
		return nil, errRecord
	}
	return e, nil
}

func readValue(r *disk.RecordReader) any {
	switch r.Byte() {
	case kindText:
		return r.Text()
	case kindNumber:
		bits := uint64(0)
		for range 8 {
			bits = bits<<8 | uint64(r.Byte())
		}
		n := math.Float64frombits(bits)
		if math.IsNaN(n) || math.IsInf(n, 0) {
			r.Bad = true
		}
		return n
	case kindTrue:
		return true
	case kindFalse:
		return false
	case kindList:
		return r.Texts()
	}
	r.Bad = true
	return nil
}
