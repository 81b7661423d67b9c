package lsp

// A vault is found and not asked for: from a note upwards to a folder with the mark of a program for notes, to a checkout of
// git, or to a folder that the daemon has. One that the daemon does not have is imported after a question, which is asked
// once for each folder; who says no is not asked again, in this session or another. A file without any of these above it
// is loose: nothing is asked, and what needs no vault works.

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The answers of the question whether to import a folder.
const (
	answerImport = "Import"
	answerNo     = "No"
)

// vaultMarks are what the root of a vault contains, by the program that writes notes there.
var vaultMarks = []string{".ctxd", ".obsidian", ".logseq", filepath.Join("logseq", "config.edn"), ".silverbullet"}

// vaultAbove returns the folder of the vault that a folder lies in, by its marks, else the checkout of git, "" for none.
// The home folder and the root of a disk hold marks of other kinds, and are none.
func vaultAbove(dir string) string {
	has := func(dir, name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	checkout := ""
	for at := dir; !wholeDisk(at); at = filepath.Dir(at) {
		if slices.ContainsFunc(vaultMarks, func(mark string) bool { return has(at, mark) }) {
			return at
		}
		if checkout == "" && has(at, ".git") {
			checkout = at
		}
	}
	return checkout
}

func (s *Session) didChangeFolders(p *DidChangeWorkspaceFoldersParams) {
	s.mu.Lock()
	s.folders = slices.DeleteFunc(s.folders, func(f WorkspaceFolder) bool {
		return slices.ContainsFunc(p.Event.Removed, func(gone WorkspaceFolder) bool { return gone.URI == f.URI })
	})
	s.folders = append(s.folders, p.Event.Added...)
	s.mu.Unlock()
	s.Go(s.offerImports)
}

// offerImports imports the vaults of the editor's folders and of open notes that the daemon does not have, after consent.
func (s *Session) offerImports(ctx context.Context) {
	if !s.knowsSettings(ctx) {
		return
	}
	for _, f := range s.Folders() {
		dir, ok := URIPath(f.URI)
		if !ok {
			continue
		}
		root := vaultAbove(dir)
		if root == "" && s.Settings().Import == "always" {
			root = dir
		}
		s.offerImport(ctx, f.URI, root)
	}
	for _, d := range s.Documents() {
		s.offerImportOf(ctx, d)
	}
}

// offerImportOf imports the vault that a note lies in. A folder of the editor is one without a mark as well, if the note lies
// deeper in it: several editors take the folder of a loose file for theirs.
func (s *Session) offerImportOf(ctx context.Context, d *Document) {
	file, ok := URIPath(d.URI)
	if !ok || !d.IsNote() || !s.knowsSettings(ctx) {
		return
	}
	dir := filepath.Dir(file)
	root := vaultAbove(dir)
	for _, f := range s.Folders() {
		opened, ok := URIPath(f.URI)
		if !ok || root != "" || wholeDisk(opened) {
			continue
		}
		if deeper, ok := within(opened, dir); ok && deeper != "." {
			root = opened
		}
	}
	s.offerImport(ctx, d.URI, root)
}

// knowsSettings waits for the settings of the editor. It reports false when the session ends before.
func (s *Session) knowsSettings(ctx context.Context) bool {
	select {
	case <-s.configured:
		return true
	case <-ctx.Done():
		return false
	}
}

// offerImport imports a folder, "" for none, unless the daemon has the place in it that an address names.
func (s *Session) offerImport(ctx context.Context, uri, root string) {
	if root == "" {
		return
	}
	_, known, err := s.Place(ctx, uri)
	if err == nil && !known && s.mayImport(ctx, root) {
		s.importFolder(ctx, root)
	}
}

// mayImport finds out whether the user wants a folder to be imported. They are asked at
// most once a session for each, and never again when they have said no.
func (s *Session) mayImport(ctx context.Context, dir string) bool {
	how := s.Settings().Import
	s.mu.Lock()
	asked := s.asked[dir]
	s.asked[dir] = asked || how != "never"
	s.mu.Unlock()
	if asked || how == "never" {
		return false
	}
	if how == "always" && !wholeDisk(dir) {
		return true
	}
	if slices.Contains(declined(s.opts.Declined), dir) {
		return false
	}
	var answer *MessageActionItem
	err := s.Ask(ctx, "window/showMessageRequest", ShowMessageRequestParams{
		Type:    MessageInfo,
		Message: "Import the notes of " + dir + " into ctxd, and follow changes of them? Nothing is written into the folder.",
		Actions: []MessageActionItem{{Title: answerImport}, {Title: answerNo}},
	}, &answer)
	if err != nil || answer == nil {
		return false
	}
	if answer.Title == answerNo && s.opts.Declined != "" {
		if err := decline(s.opts.Declined, dir); err != nil {
			s.opts.Logger.Warn("an answer is not kept", "error", err)
		} else {
			s.Log(MessageInfo, "ctxd does not ask for "+dir+" again; ctxd import imports it")
		}
	}
	return answer.Title == answerImport
}

// declined reads the folders that are not to be asked for, each a JSON string on a line of its own.
func declined(file string) (dirs []string) {
	f, err := os.Open(file)
	if err != nil {
		return nil // nobody has said no yet
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var dir string
		if json.Unmarshal(lines.Bytes(), &dir) == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// decline adds a folder. Several editors may do so at once: a line is one write at the end of the file.
func decline(file, dir string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	line, _ := json.Marshal(dir) // a string can't fail
	_, err = f.Write(append(line, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// wholeDisk reports a folder that is hardly meant when an editor is opened in it: it is
// never imported without a question.
func wholeDisk(dir string) bool {
	home, err := os.UserHomeDir()
	return dir == filepath.Dir(dir) || err == nil && dir == filepath.Clean(home)
}

// importFolder imports a folder and follows it, with a progress that the editor shows.
func (s *Session) importFolder(ctx context.Context, dir string) {
	show := s.Progress(ctx, nil, "ctxd: importing "+filepath.Base(dir))
	var result record.VaultResult
	err := s.daemon.Job(ctx, "vault.import", protocol.VaultImport{Path: dir, Watch: true}, &result, func(p protocol.Progress) {
		if p.Kind == protocol.ProgressReport {
			show.Report(p.Message, p.Done, p.Total)
		}
	})
	show.End("")
	s.places.forget()
	if err != nil {
		s.Show(MessageError, "ctxd: the folder was not imported: "+wireError(ctx, err).Message)
		return
	}
	s.Log(MessageInfo, "ctxd follows "+dir+" as the vault "+result.Vault)
}
