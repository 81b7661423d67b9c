package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// writer is who a session writes into a vault for.
func (c scope) writer(s *Session) vault.Writer {
	return vault.Writer{Client: c.by(s).Client, Remote: c.view.Hides()}
}

// isFile reports whether a note that the reader sees is a file that the reader may write.
func (c scope) isFile(id string) bool {
	n := c.view.Note(id)
	return n != nil && n.VaultBacked && c.vaults.MayWrite(n.Vault, n.Path, c.view.Hides())
}

// hashHidden refuses the hash of a text of which parts are not shown: whether it is the right one would confirm a guess.
func (c scope) hashHidden(ctx context.Context, id, ifHash string) error {
	n := c.view.Note(id)
	if ifHash == "" || n == nil || !c.view.Hides() {
		return nil
	}
	shown, err := c.view.ShownNote(ctx, n)
	if err != nil || shown.Body == n.Body {
		return err
	}
	return c.view.ShownError(notes.TextChanged(id, "", ""))
}

// putFile is notes.put of a note from a vault: a new file, or another text of one.
func (c scope) putFile(ctx context.Context, s *Session, p protocol.NotePut) (protocol.NoteSaved, error) {
	if p.ID == "" {
		return c.createFile(ctx, s, p)
	}
	n := c.view.Note(p.ID)
	if n == nil || p.Vault != "" && p.Vault != n.Vault {
		return protocol.NoteSaved{}, fault.Field("id", "the id of a new file is not chosen").WithHint("leave it out; the answer has it")
	}
	shown, err := c.view.ShownNote(ctx, n)
	if err != nil {
		return protocol.NoteSaved{}, err
	}
	more := func(given, has []string) bool {
		return slices.ContainsFunc(given, func(s string) bool { return !slices.Contains(has, s) })
	}
	if p.Title != "" && p.Title != shown.Title || p.Path != "" && p.Path != n.Path || p.Folder != "" && p.Folder != n.Folder ||
		more(p.Tags, shown.Tags) || more(p.Aliases, shown.Aliases) {
		return protocol.NoteSaved{}, inFileAlone(n.ID)
	}
	private := &p.Private
	if p.Private && n.Private { // it is so already, by its text or its folder
		private = nil
	}
	return c.writeFile(ctx, n, fileWrite(p.ID, p.IfVersion, p.Conditions, c.writer(s), p.Body, nil), private, p.Whole())
}

// inFileAlone is the error for what of a note from a vault is not its text.
func inFileAlone(id string) error {
	err := fault.Clash(fault.VaultBacked, "title, path, folder, tags and aliases of note %q are those of its file", id).WithRef(id).
		WithHint("write them into the text, and rename the file with an editor; or leave them out")
	err.Field = "title"
	return err
}

func fileWrite(id string, ifVersion *int, on protocol.Conditions, by vault.Writer, body string, lines *string) vault.FileWrite {
	return vault.FileWrite{NoteID: id, Text: body, Append: lines, IfVersion: ifVersion, IfHash: on.IfHash, DryRun: on.DryRun, By: by}
}

// patchFile is notes.patch of the text of a note from a vault.
func (c scope) patchFile(ctx context.Context, s *Session, p protocol.NotePatch) (protocol.NoteSaved, error) {
	body := ""
	if p.Body != nil {
		body = *p.Body
	}
	f := fileWrite(p.ID, p.IfVersion, p.Conditions, c.writer(s), body, p.Append)
	return c.writeFile(ctx, c.view.Note(p.ID), f, p.Private, p.Whole())
}

// writeFile writes the text of a note, and what a client says of its privacy. What becomes private is so before the text
// is there, and what becomes public only then.
func (c scope) writeFile(ctx context.Context, n *notes.Note, f vault.FileWrite, private *bool, whole bool) (protocol.NoteSaved, error) {
	shown, err := c.view.ShownNote(ctx, n)
	if err != nil {
		return protocol.NoteSaved{}, err
	}
	if shown.Body != n.Body && f.Append == nil {
		return protocol.NoteSaved{}, fault.New(fault.Unavailable, "parts of the note are private and not shown, so they would be lost").
			WithRef(n.ID).WithHint("add lines with append, or ask the user to make the change")
	}
	was := n.Given.Get().Private
	if f.DryRun || private != nil && *private == was {
		private = nil
	}
	say := func(private bool) error {
		_, err := c.notes.Patch(ctx, notes.Patch{ID: n.ID, Private: &private}, nil)
		return err
	}
	if private != nil && *private {
		if f.IfVersion != nil && *f.IfVersion != n.Version {
			return protocol.NoteSaved{}, fault.Stale("note", n.ID, n.Version, *f.IfVersion)
		}
		f.IfVersion = nil
		f.IfHash = cmp.Or(f.IfHash, notes.HashOf(n.Body))
		if err := say(true); err != nil {
			return protocol.NoteSaved{}, err
		}
	}
	out, err := c.vaults.Write(ctx, f)
	switch {
	case err != nil && private != nil && *private:
		if failed := say(was); failed != nil {
			return protocol.NoteSaved{}, failed
		}
	case err == nil && private != nil && !*private:
		err = say(false)
		if n := c.view.Note(n.ID); n != nil {
			out.Note = n
		}
	}
	saved, err := c.savedFile(ctx, out, whole, err)
	if shown.Body != n.Body { // what stands around the lines may be private
		saved.Diff, saved.Hash = "", ""
	}
	return saved, err
}

// savedFile tells of a write into a file.
func (c scope) savedFile(ctx context.Context, out *vault.FileWritten, whole bool, err error) (saved protocol.NoteSaved, _ error) {
	if err != nil {
		return saved, c.view.ShownError(err)
	}
	if out.Note == nil { // a dry run of a new file, or one that the vault took no note from
		saved.Title, saved.Path, saved.VaultBacked = strings.TrimSuffix(path.Base(out.Path), path.Ext(out.Path)), out.Path, true
	} else {
		saved, err = c.written(ctx, out.Note, whole, nil)
	}
	saved.Hash, saved.Diff, saved.Write = out.Hash, out.Diff, out.ID
	return saved, err
}

// createFile makes the file of a new note.
func (c scope) createFile(ctx context.Context, s *Session, p protocol.NotePut) (protocol.NoteSaved, error) {
	if p.IfHash != "" || p.IfVersion != nil && *p.IfVersion != 0 {
		return protocol.NoteSaved{}, fault.Field("ifVersion", "a new file replaces no version").WithHint("leave it out, or give the id of the note to change")
	}
	if p.Day != "" {
		return c.createDay(ctx, s, p)
	}
	at := p.Path
	if at == "" {
		if p.Title == "" {
			return protocol.NoteSaved{}, fault.Field("path", "a new file needs a path, or a title").WithHint("write it as in Projects/Alpha.md")
		}
		folder := p.Folder
		if folder == "" {
			var err error
			if folder, err = c.vaults.NewNotes(ctx, p.Vault); err != nil {
				return protocol.NoteSaved{}, c.view.ShownError(err)
			}
		}
		at = strings.TrimLeft(path.Join(folder, p.Title+".md"), "/")
		if strings.ContainsRune(p.Title, '/') {
			return protocol.NoteSaved{}, fault.Field("title", "no file can be called by a title with a slash").WithHint("give a path, too")
		}
	}
	body, err := withProperties(p, strings.TrimSuffix(path.Base(at), path.Ext(at)))
	if err != nil {
		return protocol.NoteSaved{}, err
	}
	out, err := c.vaults.Write(ctx, vault.FileWrite{Vault: p.Vault, Path: at, Text: body, DryRun: p.DryRun, By: c.writer(s)})
	return c.savedFile(ctx, out, p.Whole(), err)
}

// createDay makes the file of the note of a day.
func (c scope) createDay(ctx context.Context, s *Session, p protocol.NotePut) (protocol.NoteSaved, error) {
	if p.Title+p.Path+p.Folder != "" || len(p.Tags)+len(p.Aliases) > 0 || p.Private {
		return protocol.NoteSaved{}, fault.Field("day", "the settings of the vault say what the note of a day is called, and where it is").
			WithHint("give day, vault and body alone")
	}
	at, ok := dayOf(p.Day, time.Now())
	if !ok {
		return protocol.NoteSaved{}, fault.Field("day", "%q is no day", p.Day).WithHint("give today, yesterday, tomorrow or a day as in 2026-03-04")
	}
	made, err := c.vaults.DayNote(ctx, p.Vault, at, c.writer(s), c.view.SeesNote)
	if err != nil {
		return protocol.NoteSaved{}, c.view.ShownError(err)
	}
	if n := made.Note; n != nil {
		return protocol.NoteSaved{}, c.view.ShownError(fault.Clash(fault.Exists, "there is the note of that day already: %s", n.Path).WithRef(n.ID).
			WithHint("change it, or add lines to it").WithCandidates([]fault.Candidate{{ID: n.ID, Title: n.Title, Path: n.Path}}))
	}
	text := made.Text
	if p.Body != "" {
		text = notes.WithLines(text, p.Body)
	}
	if by := c.writer(s); !by.Remote && !c.vaults.MayWrite(made.Vault, made.Path, false) {
		return protocol.NoteSaved{}, fault.Clash(fault.State, "there is no note of that day, and ctxd may not make %s in vault %q", made.Path, made.Vault).
			WithRef(made.Path).WithHint("make it in your editor, or name its folder in the setting vault.write")
	}
	f := vault.FileWrite{Vault: made.Vault, Path: made.Path, Text: text, DryRun: p.DryRun, By: c.writer(s)}
	out, err := c.vaults.Write(ctx, f)
	return c.savedFile(ctx, out, p.Whole(), err)
}

// dayOf reads a day as people say it, and returns it at the time of now.
func dayOf(said string, now time.Time) (time.Time, bool) {
	switch strings.ToLower(said) {
	case "today":
		return now, true
	case "yesterday":
		return now.AddDate(0, 0, -1), true
	case "tomorrow":
		return now.AddDate(0, 0, 1), true
	}
	day, err := time.Parse(time.DateOnly, said)
	if err != nil {
		return time.Time{}, false
	}
	hour, minute, second := now.Clock()
	return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, 0, now.Location()), true
}

// withProperties returns the text of a new file, in whose frontmatter stands what a record says beside its text.
func withProperties(p protocol.NotePut, name string) (string, error) {
	var lines []string
	add := func(key string, value any) {
		data, _ := json.Marshal(value) // a flow of YAML, too
		lines = append(lines, key+": "+string(data)+"\n")
	}
	if p.Title != "" && p.Title != name {
		add("title", p.Title)
	}
	if len(p.Aliases) > 0 {
		add("aliases", p.Aliases)
	}
	if len(p.Tags) > 0 {
		add("tags", p.Tags)
	}
	if p.Private {
		add("private", true)
	}
	switch d := draft(p.NoteRecord); {
	case len(lines) == 0:
		return p.Body, nil
	case d.Read().FrontmatterErr != nil || strings.HasPrefix(p.Body, "---"):
		return "", fault.Field("body", "the text has frontmatter, in which title, tags, aliases and private belong").
			WithHint("write them there, or leave the frontmatter out")
	}
	return "---\n" + strings.Join(lines, "") + "---\n" + p.Body, nil
}

// rehearse answers a dry run of a note that is in no vault.
func (c scope) rehearse(ctx context.Context, id string, ifVersion *int, ifHash, title string, textOver func(string) string) (out protocol.NoteSaved, err error) {
	n := c.view.Note(id)
	if n == nil {
		n = &notes.Note{Note: record.Note{ID: id, Title: title}}
	}
	switch {
	case n.VaultBacked:
		return out, notes.FromFile(id)
	case ifVersion != nil && *ifVersion != n.Version:
		return out, fault.Stale("note", id, n.Version, *ifVersion)
	}
	shown, err := c.view.ShownNote(ctx, n)
	if err != nil {
		return out, err
	}
	wanted := textOver(shown.Body)
	if ifHash != "" && notes.HashOf(n.Body) != ifHash {
		return out, notes.TextChanged(id, shown.Body, wanted)
	}
	out.Note = *shown.Record()
	out.Diff = text.UnifiedDiff(cmp.Or(shown.Path, shown.Title, "note"), shown.Body, wanted)
	return out, nil
}
