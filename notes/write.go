package notes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Sizes that a note may have, beside those of package entities.
const (
	MaxBody = 4 << 20 // bytes of the text, where Options say nothing else
	MaxPath = 1024    // bytes of a path
	MaxTags = 200     // tags stated apart from the text
)

// Draft is a note as a caller writes it.
type Draft struct {
	ID        string // "": a new one
	Title     string // "": from the text, or the file name
	Body      string
	Path      string // "": none
	Folder    string // only where there is no path
	Tags      []string
	Aliases   []string
	Private   bool
	CreatedAt time.Time // of a new note; zero: now
	IfHash    string    // HashOf of the text that is replaced, as the caller has read it; "": any

	// For notes that come from a vault:
	Vault      string    // its name; the note becomes vault-backed
	ModifiedAt time.Time // when the file was last changed; zero: now
	Was        *Note     // the note that comes back, without its text; only where there is none of that id

	text *reading // of Body, when it has been read already
}

// Read reads the text of the draft, which the write does otherwise: an import
// reads many texts in parallel before it writes them one after the other.
func (d *Draft) Read() *markdown.Document { return d.reading().Document }

func (d *Draft) reading() *reading {
	if d.text == nil {
		d.text = read(d.Body)
	}
	return d.text
}

// Put writes a note: it replaces the one of that id, absent members are
// cleared, an unknown id creates it. ifVersion is the version that the caller
// changes, 0 for a new note, nil for any. A type in the frontmatter makes the
// note's entity, declaring the type from the values when it is not declared.
func (s *Store) Put(ctx context.Context, d Draft, ifVersion *int) (*Note, error) {
	if err := s.checkSizes(&d); err != nil { // before the text is read
		return nil, err
	}
	d.Read()
	var id string
	err := s.db.Update(ctx, func(tx *kv.Tx) error {
		n, err := s.PutTx(tx, d, ifVersion, nil)
		if err != nil {
			return err
		}
		id = n.ID
		return nil
	})
	return s.after(id, err)
}

// PutMany writes up to entities.MaxMany notes in one transaction: all or none.
// An error names the note as "notes[i]".
func (s *Store) PutMany(ctx context.Context, drafts []Draft) ([]*Note, error) {
	if len(drafts) > entities.MaxMany {
		return nil, fault.TooLarge("notes", len(drafts), entities.MaxMany, "items")
	}
	for i := range drafts {
		if err := s.checkSizes(&drafts[i]); err != nil { // before any text is read
			return nil, fault.Under(fmt.Sprintf("notes[%d]", i), err)
		}
		drafts[i].Read()
	}
	ids := make([]string, len(drafts))
	err := s.db.Update(ctx, func(tx *kv.Tx) error {
		for i, d := range drafts {
			n, err := s.PutTx(tx, d, nil, nil)
			if err != nil {
				return fault.Under(fmt.Sprintf("notes[%d]", i), err)
			}
			ids[i] = n.ID
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*Note, len(ids))
	for i, id := range ids {
		out[i] = s.Get(id)
	}
	return out, nil
}

func (s *Store) after(id string, err error) (*Note, error) {
	if err != nil {
		return nil, err
	}
	n := s.Get(id)
	if n == nil { // deleted by another caller since
		return nil, fault.Missing("note", id)
	}
	return n, nil
}

// PutTx is Put inside a transaction of the caller. problem, which may be nil,
// is told what in the frontmatter did not fit the type of the entity; such
// values are left out and do not fail the write.
func (s *Store) PutTx(tx *kv.Tx, d Draft, ifVersion *int, problem func(error)) (*Note, error) {
	if d.ID == "" {
		d.ID = s.opts.NewID()
	}
	if err := entities.CheckID("id", d.ID); err != nil {
		return nil, err
	}
	old, err := Records.Get(tx, d.ID)
	if err != nil {
		return nil, err
	}
	if err := checkWritable(old, d.ID, ifVersion, d.Vault != ""); err != nil {
		return nil, err
	}
	if err := checkHash(old, d.ID, d.IfHash, d.Body); err != nil {
		return nil, err
	}
	comesBack := old == nil && d.Was != nil
	if comesBack {
		old = d.Was
	}
	name, others, err := typeOf(tx, d.Vault, d.Read())
	if err != nil {
		return nil, err
	}
	n, err := s.build(tx, d, old, others)
	if err != nil {
		return nil, err
	}
	if problem == nil {
		problem = func(error) {}
	}
	if err := s.putEntity(tx, old, n, d.reading(), name, problem); err != nil {
		return nil, err
	}
	if err := s.movePath(tx, old, n); err != nil {
		return nil, err
	}
	if err := privateGone.Delete(tx, n.ID); err != nil {
		return nil, err
	}
	if err := Records.Put(tx, n.ID, n); err != nil {
		return nil, err
	}
	if old != nil && old.Body != n.Body {
		if err := DropSummariesTx(tx, n.ID); err != nil {
			return nil, err
		}
	}
	if comesBack && !n.Private {
		return n, s.reveal(tx, n)
	}
	if err := s.keepFormer(tx, old, n); err != nil {
		return nil, err
	}
	return n, s.keepNames(tx, old, n)
}

// build checks a draft and makes the record that replaces old. types are those that the
// text names and its entity is not of.
func (s *Store) build(tx *kv.Tx, d Draft, old *Note, types []InferredType) (*Note, error) {
	if err := s.checkSizes(&d); err != nil {
		return nil, err
	}
	text := d.reading()
	now := s.now(tx)
	n := &Note{Note: record.Note{
		ID: d.ID, Body: d.Body, Kind: FileKind(d.Path), Path: d.Path, Folder: d.Folder, VaultBacked: d.Vault != "",
		CreatedAt: now, UpdatedAt: now, Version: 1,
	}, Vault: d.Vault, Places: text.places, Worked: text.many}
	given := Given{Title: d.Title, Tags: d.Tags, Aliases: d.Aliases, Private: d.Private}
	if !d.ModifiedAt.IsZero() {
		n.UpdatedAt = d.ModifiedAt.UTC().Truncate(time.Millisecond)
		n.CreatedAt = n.UpdatedAt
	}
	if d.Path != "" {
		n.Folder = folderOf(d.Path)
	}
	if at, ok := dateOf(text.Document, "created"); ok {
		n.CreatedAt = at
	}
	switch {
	case old != nil:
		n.CreatedAt, n.Version, n.EntityID = old.CreatedAt, old.Version+1, old.EntityID
		if d.ModifiedAt.IsZero() && now.Before(old.UpdatedAt) { // the clock was set back
			n.UpdatedAt = old.UpdatedAt
		}
		n.ArchivedAt, given.Archived = old.ArchivedAt, old.Given.Get().Archived
	case !d.CreatedAt.IsZero():
		n.CreatedAt = d.CreatedAt.UTC()
	}
	n.Given = given.orNil()
	n.describe(text, types, s.maxName())
	n.Private = s.why(n, text.why, old != nil && old.Private).Rule != RuleNone
	return n, nil
}

func (s *Store) now(tx *kv.Tx) time.Time { return tx.Now(s.opts.Now).UTC().Truncate(time.Millisecond) }

// describe sets what the text says about the note, on top of what was given.
// Names that the text gives have at most maxName code points.
func (n *Note) describe(doc *reading, types []InferredType, maxName int) {
	given := n.Given.Get()
	n.Title = given.Title
	if n.Title == "" {
		n.Title = cut(strings.TrimSpace(doc.Title), maxName)
	}
	if n.Title == "" && n.Path != "" {
		n.Title = cut(baseOf(n.Path), maxName)
	}
	if n.Title == "" {
		n.Title = untitled
	}
	if len(given.Tags) > 0 {
		n.Tags = union(given.Tags, doc.Tags)
	} else {
		n.Tags = slices.Clone(doc.Tags) // each is there once: read has seen to that, before the writer's turn
	}
	for _, t := range types {
		if tag := t.Tag(); tag != "" {
			n.Tags = union(n.Tags, []string{tag})
		}
	}
	n.Aliases = union(given.Aliases, shortOnes(doc.Aliases, maxName))
	n.readSources(doc, types, maxName)
	switch {
	case given.Archived != nil:
		n.ArchivedAt = given.Archived
	case !flag(doc.Document, "archived"):
		n.ArchivedAt = nil
	case n.ArchivedAt == nil:
		at := n.UpdatedAt
		n.ArchivedAt = &at
	}
}

// flag reports whether the frontmatter says yes to key.
func flag(doc *markdown.Document, key string) bool {
	f, ok := doc.Frontmatter.Get(key)
	if !ok {
		return false
	}
	if b, ok := f.Value.(bool); ok {
		return b
	}
	switch entities.Fold(f.Raw) {
	case "yes", "on", "true":
		return true
	}
	return false
}

// dateOf reads a date or time of the frontmatter.
func dateOf(doc *markdown.Document, key string) (time.Time, bool) {
	f, ok := doc.Frontmatter.Get(key)
	if !ok {
		return time.Time{}, false
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		at, err := time.Parse(layout, strings.TrimSpace(f.Raw))
		if at = at.UTC(); err == nil && at.Year() >= 0 && at.Year() <= 9999 { // another year can't be written again
			return at, true
		}
	}
	return time.Time{}, false
}

func (s *Store) checkSizes(d *Draft) (err error) {
	if d.Title != "" {
		d.Title, err = entities.CheckName("title", d.Title, s.maxName())
		if err != nil {
			return err
		}
	}
	if len(d.Body) > s.opts.MaxBody {
		return fault.TooLarge("body", len(d.Body), s.opts.MaxBody, "bytes")
	}
	if !utf8.ValidString(d.Body) {
		return fault.Field("body", "body is not valid UTF-8")
	}
	d.Aliases, err = entities.CheckAliases(d.Aliases, s.maxName())
	if err != nil {
		return err
	}
	d.Tags, err = checkTags(d.Tags)
	if err != nil {
		return err
	}
	if d.Path != "" {
		return checkPath("path", d.Path)
	}
	if d.Folder != "" {
		return checkPath("folder", d.Folder)
	}
	return nil
}

func checkTags(tags []string) ([]string, error) {
	if len(tags) > MaxTags {
		return nil, fault.TooLarge("tags", len(tags), MaxTags, "items")
	}
	var out []string
	for _, tag := range tags {
		tag, err := entities.CheckName("tags", strings.TrimPrefix(tag, "#"), entities.MaxTypeName)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(tag, " \t\r\n#,") {
			return nil, fault.Field("tags", "a tag is one word").WithHint("join the words with a hyphen or a slash")
		}
		out = append(out, tag)
	}
	return out, nil
}

// checkPath accepts a relative path with / and without dot segments.
func checkPath(field, p string) error {
	if len(p) > MaxPath {
		return fault.TooLarge(field, len(p), MaxPath, "bytes")
	}
	if !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
		return fault.Field(field, "%s is not valid UTF-8", field)
	}
	if path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../") || p == "." {
		return fault.Field(field, "%s is not a relative path", field).
			WithHint("write it as in Projects/Alpha.md, without . and ..")
	}
	return nil
}

// movePath keeps the paths unique within a vault.
func (s *Store) movePath(tx *kv.Tx, old, n *Note) error {
	if old != nil && old.Path != "" && (n == nil || old.Path != n.Path || old.Vault != n.Vault) {
		// In an import that moves files in a circle, another note may have taken
		// the path by now.
		if owner, err := paths.Get(tx, pathKey(old.Vault, old.Path)); err != nil {
			return err
		} else if owner != nil && *owner == old.ID {
			if err := paths.Delete(tx, pathKey(old.Vault, old.Path)); err != nil {
				return err
			}
		}
	}
	if n == nil || n.Path == "" {
		return nil
	}
	owner, err := paths.Get(tx, pathKey(n.Vault, n.Path))
	if err != nil {
		return err
	}
	if owner != nil && *owner != n.ID && n.Vault == "" {
		return &fault.Error{
			Kind: fault.Conflict, Reason: fault.Exists, Field: "path", Ref: *owner, Msg: "another note has that path",
			Hint:       "choose another path, or change the note that has it",
			Candidates: []fault.Candidate{{ID: *owner, Path: n.Path}},
		}
	}
	return paths.Put(tx, pathKey(n.Vault, n.Path), &n.ID)
}

// checkWritable refuses a write to a note that moved on or belongs to a file.
func checkWritable(old *Note, id string, ifVersion *int, fromVault bool) error {
	if ifVersion != nil {
		have := 0
		if old != nil {
			have = old.Version
		}
		if have != *ifVersion {
			return fault.Stale("note", id, have, *ifVersion)
		}
	}
	if old != nil && old.VaultBacked && !fromVault {
		return FromFile(id)
	}
	return nil
}

// FromFile is the error for a note that changes with its file alone.
func FromFile(id string) error {
	return fault.Clash(fault.VaultBacked, "note %q comes from a file of a vault", id).WithRef(id).
		WithHint("edit the file: the note follows; ctxd writes into the folders that the setting vault.write names")
}

// HashOf returns what IfHash compares: the SHA-256 of a text, in hexadecimal digits.
func HashOf[T string | []byte](text T) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// checkHash refuses a write to a note that has another text than the caller has read.
func checkHash(old *Note, id, ifHash, wanted string) error {
	was := ""
	if old != nil {
		was = old.Body
	}
	if ifHash == "" || HashOf(was) == ifHash {
		return nil
	}
	return TextChanged(id, was, wanted)
}

// maxSides is how long both texts of a conflict may be together, in bytes.
const maxSides = 1 << 20

// TextChanged is the error for a note that has another text than the caller has read.
func TextChanged(id, now, wanted string) *fault.Error {
	e := fault.Clash(fault.Changed, "note %q has changed since it was read", id).WithRef(id).
		WithHint("read it again, and make the change in what it says now")
	if len(now)+len(wanted) <= maxSides && utf8.ValidString(now) {
		e.Sides = &fault.Sides{Current: now, Wanted: wanted}
	}
	return e
}

// WithLines returns a text with lines added at its end.
func WithLines(text, lines string) string {
	const mark = "\ufeff" // the byte order mark
	if text != "" && text != mark && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if lines != "" && !strings.HasSuffix(lines, "\n") {
		lines += "\n"
	}
	return text + lines
}

// union joins two lists; the first spelling of each item stays.
func union(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	if len(a)+len(b) == 0 {
		return out
	}
	seen := make(map[string]bool, len(a)+len(b))
	for _, item := range slices.Concat(a, b) {
		if key := entities.Fold(item); !seen[key] {
			seen[key] = true
			out = append(out, item)
		}
	}
	return out
}

// shortOnes leaves out the aliases that are no names: a text gives them
// unchecked.
func shortOnes(aliases []string, maxName int) []string {
	var out []string
	for _, a := range aliases {
		if a, err := entities.CheckName("aliases", a, maxName); err == nil && len(out) < entities.MaxAliases {
			out = append(out, a)
		}
	}
	return out
}

// cut shortens a text to at most max code points.
func cut(s string, max int) string {
	n := 0
	for at := range s {
		if n == max {
			return s[:at]
		}
		n++
	}
	return s
}
