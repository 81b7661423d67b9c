package rpc

// This file and editing_*.go have the handlers of what editors ask about texts: vault.planRename, which tells what to
// change in all files of a vault so that a note, a heading, a block, a tag or files get other names, and
// vault.checkNote, which tells what is wrong with the text of a note. notes/vault does the work. Here bytes become
// UTF-16 code units, counted without a byte order mark, as editors count. Errors are those of notes/vault.

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const maxMoves = 10_000

// planRename is vault.planRename, in a vault of that name and folder.
func planRename(store *notes.Store, ents *entities.Store, name, folder string, p protocol.VaultPlanRename) (protocol.RenamePlan, error) {
	out := protocol.RenamePlan{
		Vault: name, Folder: folder, Files: []protocol.FileEdits{}, Moves: []protocol.Move{}, Problems: []protocol.RenameProblem{},
	}
	where, err := renameTarget(name, p.Buffers)
	if err != nil {
		return out, err
	}
	where.Source, where.Days = sourceIn(folder), vault.DaysOf(folder)
	plan, err := renamePlan(store, ents, where, p)
	if err != nil {
		return out, err
	}
	for _, m := range plan.Moves {
		out.Moves = append(out.Moves, protocol.Move(m))
	}
	for _, f := range plan.Files {
		out.Files = append(out.Files, protocol.FileEdits{Path: f.Path, Edits: editsOf(f)})
	}
	for _, r := range plan.Problems {
		out.Problems = append(out.Problems, protocol.RenameProblem(r))
	}
	return out, nil
}

func renamePlan(store *notes.Store, ents *entities.Store, where vault.RenameScope, p protocol.VaultPlanRename) (*vault.RenamePlan, error) {
	if p.Kind == "files" {
		if len(p.Moves) == 0 {
			return nil, fault.Field("moves", "moves is empty").WithHint("give the files and folders that move")
		}
		if len(p.Moves) > maxMoves {
			return nil, fault.TooLarge("moves", len(p.Moves), maxMoves, "items")
		}
		moves := make([]vault.Move, len(p.Moves))
		for i, m := range p.Moves {
			moves[i] = vault.Move(m)
		}
		return vault.MoveFiles(store, where, moves)
	}
	if p.Path == "" && p.Kind != "tag" {
		return nil, fault.Field("path", "a %s is renamed in a note, and path is not given", p.Kind).WithHint("give the path of the note")
	}
	part := vault.PartRename{Path: p.Path, Line: p.Line, New: p.New}
	switch p.Kind {
	case "heading":
		return vault.RenameHeading(store, where, part)
	case "block":
		return vault.RenameBlock(store, where, part)
	case "tag":
		return vault.RenameTag(store, where, vault.TagRename{Old: p.Old, New: p.New})
	}
	return vault.RenameNote(store, ents, where, vault.NoteRename{Path: p.Path, Old: p.Old, New: p.New, What: p.What})
}

// editsOf returns the edits of a file as an editor counts them.
func editsOf(f vault.ChangedFile) []protocol.TextEdit {
	at := newUnitOffsets(f.Text)
	out := make([]protocol.TextEdit, len(f.Edits))
	for i, e := range f.Edits {
		start := at.unit(e.Start)
		out[i] = protocol.TextEdit{Line: at.line, Old: f.Text[e.Start:e.End], New: e.New}
		out[i].Range = [2]int{start, at.unit(e.End)}
	}
	return out
}
