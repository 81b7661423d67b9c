package rpc

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) vaultImport(ctx context.Context, s *Session, p protocol.VaultImport) (*vault.ImportResult, error) {
	return s.srv.follow(ctx, c.vaults, vault.ImportRequest{
		Path: p.Path, Name: p.Name, DryRun: p.DryRun, Watch: p.Watch,
		Progress: func(stage string, done, total int) { ReportProgress(ctx, stage, int64(done), int64(total)) },
	})
}

func (c scope) vaultList(ctx context.Context, _ *Session, _ protocol.ReadAll) (protocol.VaultList, error) {
	list, err := c.vaults.ListFor(ctx, c.view.NotesSeen())
	return protocol.VaultList{Vaults: append([]vault.Status{}, list...)}, err
}

func (c scope) vaultStatus(ctx context.Context, _ *Session, p protocol.VaultMaybe) (*vault.Status, error) {
	return c.vaults.StatusFor(ctx, p.Vault, c.view.NotesSeen())
}

func (c scope) vaultUnwatch(ctx context.Context, _ *Session, p protocol.VaultName) (*vault.Status, error) {
	err := c.vaults.Unwatch(ctx, p.Vault)
	if err != nil {
		return nil, err
	}
	return c.vaults.StatusFor(ctx, p.Vault, c.view.NotesSeen())
}

func (c scope) vaultUnresolved(ctx context.Context, _ *Session,
	p protocol.VaultUnresolved,
) (protocol.Unresolved, error) {
	st, err := c.vaults.StatusFor(ctx, p.Vault, c.view.NotesSeen())
	if err != nil {
		return protocol.Unresolved{}, err
	}
	list := c.view.Unresolved(st.Vault)
	out := protocol.Unresolved{Vault: st.Vault, Targets: len(list)}
	for _, u := range list {
		out.Links += u.Count
	}
	out.Unresolved = append([]notes.Unresolved{}, list[:min(p.Limit, len(list))]...)
	return out, nil
}

func (c scope) vaultProblems(ctx context.Context, _ *Session, p protocol.VaultProblems) (protocol.VaultProblemPage, error) {
	reader := vault.Reader{Sees: c.view.NotesSeen(), Check: c.view.CheckWritten}
	if reader.Sees != nil {
		reader.Withholds, reader.Text = c.view.Withholds, c.view.TextOf
	}
	list, err := c.vaults.Problems(ctx, p.Vault, reader)
	if err != nil {
		return protocol.VaultProblemPage{}, err
	}
	of := list.Of(p.Kinds)
	out := protocol.VaultProblemPage{Vault: list.Vault, Folder: list.Folder, Counts: list.Counts, Total: len(of)}
	after, err := problemPlace(p.Cursor)
	if err != nil {
		return out, err
	}
	page, next, err := paginate(of, p.Page, markOfProblem,
		func(l vault.ProblemListed, _ pageMark) int { return l.Compare(after) })
	if err != nil {
		return out, err
	}
	out.NextCursor = next
	out.Problems, err = list.Describe(ctx, page)
	return out, err
}

func markOfProblem(l vault.ProblemListed) pageMark {
	return pageMark{ID: fmt.Sprintf("%s/%d/%d", l.Kind, l.Line, l.Nth), Name: l.Path}
}

// problemPlace reads the cursor of a page of problems; nil for none.
func problemPlace(cursor string) (*vault.ProblemPlace, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // the first page comes after no place
	}
	m, err := parsePageMark(cursor)
	if err != nil {
		return nil, err
	}
	part := strings.Split(m.ID, "/")
	if len(part) != 3 {
		return nil, badCursorError()
	}
	line, bad := strconv.Atoi(part[1])
	nth, alsoBad := strconv.Atoi(part[2])
	at := &vault.ProblemPlace{Kind: record.ProblemKind(part[0]), Path: m.Name, Line: line, Nth: nth}
	if bad != nil || alsoBad != nil || !at.Valid() {
		return nil, badCursorError()
	}
	return at, nil
}

func (c scope) vaultHistory(ctx context.Context, _ *Session, p protocol.VaultHistory) (out protocol.VaultWrites, err error) {
	if p.Vault != "" {
		p.Vault, _, err = c.vaults.Find(ctx, p.Vault)
		if err != nil {
			return out, err
		}
	}
	list, err := c.vaults.History(ctx, vault.HistoryFilter{Vault: p.Vault, Path: p.Path, Sees: c.view.NotesSeen()})
	if err != nil {
		return out, err
	}
	out.Total = len(list)
	out.Writes, out.NextCursor, err = paginate(list, p.Page, func(w record.VaultWrite) pageMark { return pageMark{ID: w.ID} },
		func(w record.VaultWrite, m pageMark) int { return strings.Compare(m.ID, w.ID) })
	return out, err
}

func (c scope) vaultUndo(ctx context.Context, s *Session, p protocol.VaultUndo) (out protocol.VaultUndone, err error) {
	undone, err := c.vaults.Undo(ctx, p.ID, p.DryRun, c.writer(s), c.view.NotesSeen())
	if err != nil {
		return out, c.view.ShownError(err)
	}
	out = protocol.VaultUndone{ID: undone.ID, Vault: undone.Vault, Path: undone.Path, Diff: undone.Diff, DryRun: p.DryRun}
	if undone.Note != nil {
		out.NoteID = undone.Note.ID
	}
	if c.view.Hides() {
		out.Diff = ""
	}
	return out, nil
}

func (c scope) vaultForget(ctx context.Context, _ *Session, p protocol.VaultForget) (protocol.VaultForgotten, error) {
	total, copies, err := c.vaults.Forgets(ctx, p.Vault)
	out := protocol.VaultForgotten{Vault: p.Vault, Notes: total, Copies: append([]string{}, copies...), DryRun: p.DryRun}
	if err != nil || p.DryRun {
		return out, err
	}
	out.Notes, err = c.vaults.Forget(ctx, p.Vault,
		func(done, total int) { ReportProgress(ctx, "forget", int64(done), int64(total)) })
	c.gather.Forget()
	return out, err
}
