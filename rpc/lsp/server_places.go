package lsp

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/notes/days"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// VaultPlace is where a document lies: in which vault, and where in it.
type VaultPlace struct {
	Vault string
	Root  string // folder of the vault
	Path  string // within the vault, with / between folders
}

// places remember the folders of the vaults and the notes of documents.
type places struct {
	mu     sync.Mutex // guards what follows
	known  bool
	listed time.Time
	vaults []folder
	notes  map[string]string       // ids by document
	days   map[string]days.Counter // by vault, of vaults without settings for them
}

// folder is a vault; real is its folder without symbolic links.
type folder struct{ name, root, real string }

// relist is how long a list of vaults counts when a document is in none of them.
const relist = time.Second

func (p *places) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.notes, p.days = false, nil, nil
}

func (p *places) forgetNotes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes, p.days = nil, nil
}

// folders returns the vaults. fresh asks for them again unless that was done just now.
func (s *Session) vaults(ctx context.Context, fresh bool) ([]folder, error) {
	p := &s.places
	p.mu.Lock()
	if p.known && !(fresh && time.Since(p.listed) > relist) {
		defer p.mu.Unlock()
		return p.vaults, nil
	}
	p.mu.Unlock()
	var list protocol.VaultList
	if err := s.Daemon(ctx, "vault.list", protocol.ReadAll{}, &list); err != nil {
		return nil, err
	}
	folders := make([]folder, len(list.Vaults))
	for i, v := range list.Vaults {
		folders[i] = folder{v.Vault, v.Path, real(v.Path)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.listed, p.vaults = true, time.Now(), folders
	return folders, nil
}

// real returns a path without symbolic links, of a file that may not be there yet.
func real(file string) string {
	if whole, err := filepath.EvalSymlinks(file); err == nil {
		return whole
	}
	parent := filepath.Dir(file)
	if parent == file {
		return file
	}
	return filepath.Join(real(parent), filepath.Base(file))
}

// within returns the path of a file in a folder.
func within(root, file string) (string, bool) {
	rel, err := filepath.Rel(root, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Place returns where a document lies. It reports false for one outside every vault, and
// for one that is no file.
func (s *Session) Place(ctx context.Context, uri string) (VaultPlace, bool, error) {
	file, ok := URIPath(uri)
	if !ok {
		return VaultPlace{}, false, nil
	}
	for _, fresh := range []bool{false, true} {
		list, err := s.vaults(ctx, fresh)
		if err != nil {
			return VaultPlace{}, false, err
		}
		actual := ""
		for _, v := range list {
			rel, ok := within(v.root, file)
			if !ok {
				if actual == "" {
					actual = real(file)
				}
				rel, ok = within(v.real, actual)
			}
			if ok {
				return VaultPlace{Vault: v.name, Root: v.root, Path: rel}, true, nil
			}
		}
	}
	return VaultPlace{}, false, nil
}

// URI returns the address of the file at a path of a vault. vault may be empty when there
// is only one. It reports false for a note that is of no file.
func (s *Session) URI(ctx context.Context, vault, within string) (string, bool, error) {
	if within == "" {
		return "", false, nil
	}
	for _, fresh := range []bool{false, true} {
		list, err := s.vaults(ctx, fresh)
		if err != nil {
			return "", false, err
		}
		for _, v := range list {
			if v.name == vault || vault == "" && len(list) == 1 {
				return FileURI(filepath.Join(v.root, filepath.FromSlash(path.Clean(within)))), true, nil
			}
		}
	}
	return "", false, nil
}

// NoteID returns the id of the note that a document is, "" when it is none yet.
func (s *Session) NoteID(ctx context.Context, uri string) (string, error) {
	p := &s.places
	p.mu.Lock()
	id, ok := p.notes[uri]
	p.mu.Unlock()
	if ok {
		return id, nil
	}
	n, err := s.Note(ctx, uri)
	if n == nil || err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.notes == nil {
		p.notes = make(map[string]string)
	}
	p.notes[uri] = n.ID
	return n.ID, nil
}

// Note returns the note that a document is, as the daemon has it: as it is on the disk. It
// is nil for a document that is none.
func (s *Session) Note(ctx context.Context, uri string) (*protocol.NoteFull, error) {
	at, ok, err := s.Place(ctx, uri)
	if !ok || err != nil {
		return nil, err
	}
	var n protocol.NoteFull
	err = s.Daemon(ctx, "notes.get", protocol.NoteGet{Ref: at.Path, Vault: at.Vault}, &n)
	if notFound(err) {
		return nil, nil
	}
	return &n, err
}
