package lsp

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The answers of the question whether to import a folder.
const (
	answerImport = "Import"
	answerNot    = "Not now"
)

func (s *Session) didChangeFolders(p *DidChangeWorkspaceFoldersParams) {
	s.mu.Lock()
	s.folders = slices.DeleteFunc(s.folders, func(f WorkspaceFolder) bool {
		return slices.ContainsFunc(p.Event.Removed, func(gone WorkspaceFolder) bool { return gone.URI == f.URI })
	})
	s.folders = append(s.folders, p.Event.Added...)
	s.mu.Unlock()
	s.Go(s.offerImports)
}

// offerImports imports the folders that are no vault yet, after consent.
func (s *Session) offerImports(ctx context.Context) {
	select {
	case <-s.configured: // the settings are known
	case <-ctx.Done():
		return
	}
	for _, f := range s.Folders() {
		dir, ok := URIPath(f.URI)
		if !ok {
			continue
		}
		_, known, err := s.Place(ctx, f.URI)
		if err != nil || known || !s.mayImport(ctx, dir) {
			continue
		}
		s.importFolder(ctx, dir)
	}
}

// mayImport finds out whether the user wants a folder to be imported. They are asked at
// most once a session for each.
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
	var answer *MessageActionItem
	err := s.Ask(ctx, "window/showMessageRequest", ShowMessageRequestParams{
		Type:    MessageInfo,
		Message: "Import the notes of " + dir + " into ctxd, and follow changes of them? Nothing is written into the folder.",
		Actions: []MessageActionItem{{Title: answerImport}, {Title: answerNot}},
	}, &answer)
	return err == nil && answer != nil && answer.Title == answerImport
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
