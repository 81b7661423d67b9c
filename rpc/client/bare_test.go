package client_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bareEditor is an editor with nothing of ours but the command ctxd lsp, as the README of rpc/lsp configures it.
type bareEditor struct {
	name    string
	needs   []string // programs
	file    string   // of its configuration, in the home folder
	config  string   // PLUGIN is the checkout that $plugin names
	plugin  string
	command string // CONFIG is the file, NOTE the note
	ready   string // on the screen when the server is there; "" when nothing says so

	link     string   // what comes of complete; [[Project Alpha]] when empty
	complete []string // keys that type a link at the end of the note and take the first choice
	closed   []string // the same between brackets that are closed already, with an x behind; nil where it cannot be
	rename   []string // keys that rename the note of the link to Alpha Start, and save all
	moves    bool     // it renames the file
	told     bool     // else it shows which file is to be renamed
}

func bareEditors() []bareEditor {
	neovim := func(name, program, config string) bareEditor {
		return bareEditor{
			name: name, needs: []string{program}, file: "init.lua", config: config, ready: "attached", command: program + " -u CONFIG -i NONE -n NOTE",
			complete: []string{"Go[[Project Al", "C-x", "C-o", "WAIT Meetings/Project Alpha Kickoff", "C-y", "Escape"},
			rename: []string{
				"gg/Project Alpha K", "Enter", ":lua vim.lsp.buf.rename('Alpha Start')", "Enter", "WAIT [[Alpha Start]]", ":wall", "Enter",
			}, moves: true,
		}
	}
	return []bareEditor{
		neovim("the Neovim of $PATH", "nvim", `vim.o.swapfile = false
vim.api.nvim_create_autocmd('FileType', { pattern = 'markdown', callback = function(ev)
  local id = vim.lsp.start_client({ name = 'ctxd', cmd = { 'ctxd', 'lsp' },
    on_attach = function() vim.o.laststatus, vim.o.statusline = 2, 'attached' end })
  vim.lsp.buf_attach_client(ev.buf, id)
  vim.bo[ev.buf].omnifunc = 'v:lua.vim.lsp.omnifunc'
end })`),
		neovim("the Neovim of $CTXD_NVIM", os.Getenv("CTXD_NVIM"), `vim.o.swapfile = false
vim.lsp.config('ctxd', { cmd = { 'ctxd', 'lsp' }, filetypes = { 'markdown' },
  on_attach = function() vim.o.laststatus, vim.o.statusline = 2, 'attached' end,
  root_markers = { { '.ctxd', '.obsidian', '.logseq', 'logseq/config.edn' }, '.git' } })
vim.lsp.enable('ctxd')`),
		{
			name: "vim-lsp", needs: []string{"vim"}, file: "vimrc", plugin: "CTXD_VIM_LSP", command: "vim -u CONFIG -i NONE NOTE",
			config: `set nocompatible noswapfile
filetype plugin on
set rtp+=PLUGIN
au BufRead *.md setlocal filetype=markdown
au User lsp_setup call lsp#register_server({'name': 'ctxd', 'cmd': ['ctxd', 'lsp'], 'allowlist': ['markdown']})
au User lsp_buffer_enabled setlocal omnifunc=lsp#complete laststatus=2 statusline=attached`, ready: "attached",
			complete: []string{"Go[[project al", "C-x", "C-o", "WAIT Kickoff", "C-y", "Escape"},
			closed:   []string{"o[[]]", "Left", "Left", "project al", "C-x", "C-o", "WAIT Kickoff", "C-y", "x", "Escape"},
			rename: []string{
				"gg/Project Alpha K", "Enter", ":LspRename", "Enter", "WAIT new name", "C-u", "Alpha Start", "Enter", "WAIT [[Alpha Start]]",
				":silent wall", "Enter", ":messages", "Enter",
			}, told: true,
		},
		{
			name: "Eglot", needs: []string{"emacs"}, file: "init.el", command: "emacs -nw -q --load CONFIG NOTE", ready: "eglot:",
			config: `(setq native-comp-async-report-warnings-errors nil warning-minimum-level :emergency make-backup-files nil
  auto-save-default nil create-lockfiles nil inhibit-startup-screen t eglot-confirm-server-initiated-edits nil)
(package-initialize)
(unless (require 'markdown-mode nil t) ; no part of Emacs
  (define-derived-mode markdown-mode text-mode "Markdown")
  (add-to-list 'auto-mode-alist '("\\.md\\'" . markdown-mode)))
(require 'eglot)
(add-to-list 'eglot-server-programs '(markdown-mode . ("ctxd" "lsp")))
(add-hook 'markdown-mode-hook #'eglot-ensure)
(global-set-key (kbd "C-c c") #'completion-at-point)
(global-set-key (kbd "C-c r") #'eglot-rename)
(global-set-key (kbd "C-c s") (lambda () (interactive) (save-some-buffers t)))
(global-set-key (kbd "C-c m") (lambda () (interactive)
  (switch-to-buffer "*Messages*") (goto-char (point-max)) (search-backward "renames no files") (recenter 0)))`,
			complete: []string{"M->", "Enter", "[[Tooling", "C-c", "c"}, link: "[[Tooling Delay Meeting]]",
			closed: []string{"M->", "Enter", "[[]]", "C-b", "C-b", "Tooling", "C-c", "c", "WAIT [[Tooling Delay Meeting]]", "x"},
			rename: []string{
				"SLEEP", "M-<", "C-s", "Project Alpha K", "Enter", "C-c", "r", "WAIT Rename", "Alpha Start", "Enter", "WAIT Proceed", "SLEEP", "y",
				"WAIT [[Alpha Start]]", "C-c", "s", "C-c", "m",
			}, told: true,
		},
		{
			name: "Helix", needs: []string{"hx"}, file: "helix/languages.toml", command: "hx NOTE",
			config: `[language-server.ctxd]
command = "ctxd"
args = ["lsp"]
[[language]]
name = "markdown"
language-servers = ["ctxd"]
roots = [".ctxd", ".obsidian", ".logseq"]`,
			complete: []string{"ge", "o", "[[project al", "C-x", "WAIT  Project Alpha Kickoff ", "C-n", "Enter", "Escape"}, // it closes brackets
			closed:   []string{"o", "[[project al", "C-x", "WAIT  Project Alpha Kickoff ", "C-n", "Enter", "x", "Escape"},
			rename: []string{
				"gg/Project Alpha K", "Enter", "Space", "r", "WAIT rename-to", "C-u", "Alpha Start", "Enter", "WAIT [[Alpha Start]]", ":wa", "Enter",
			}, moves: true,
		},
		{
			name: "Kakoune with kak-lsp", needs: []string{"kak", "kak-lsp"}, file: "kak/kakrc", command: "kak -e 'set buffer filetype markdown' NOTE",
			config: `eval %sh{kak-lsp}
lsp-enable
hook global BufSetOption filetype=markdown %{
  set-option buffer lsp_servers %{
    [ctxd]
    command = "ctxd"
    args = ["lsp"]
    root_globs = [".ctxd", ".obsidian", ".git"]
  }
}`,
			complete: []string{"ge", "o", "[[project al", "WAIT  Project Alpha Kickoff ", "C-n", "WAIT [[Project Alpha", "Escape"},
			rename: []string{
				"gg", "/", "Project Alpha K", "Enter", ":lsp-rename 'Alpha Start'", "Enter", "WAIT [[Alpha Start]]", ":write-all", "Enter",
			}, moves: true,
		},
	}
}

// TestConformance_LSP9_BareEditors presses keys in editors that have nothing of ours but the command, in a terminal of tmux:
// a link is completed, and a note is renamed. Those of $CTXD_NVIM (a newer Neovim) and $CTXD_VIM_LSP (a checkout of vim-lsp)
// are tried where these are set.
func TestConformance_LSP9_BareEditors(t *testing.T) {
	for _, b := range bareEditors() {
		t.Run(b.name, func(t *testing.T) {
			if slices.Contains(b.needs, "") || b.plugin != "" && os.Getenv(b.plugin) == "" {
				t.Skip("the variable that names it is not set")
			}
			wantEditor(t, append(b.needs, "tmux", "go")...)
			e := newEditor(t)
			config := filepath.Join(e.home, b.file)
			if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, config, strings.ReplaceAll(b.config, "PLUGIN", os.Getenv(b.plugin)))
			s := e.terminal(t, strings.NewReplacer("CONFIG", config, "NOTE", "Journal/2025-03-04.md").Replace(b.command))
			s.waits("Kickoff day")
			s.waits(b.ready)
			link := cmp.Or(b.link, "[[Project Alpha]]")
			s.keys(b.complete...)
			s.waits(link)
			if b.closed != nil {
				s.keys(b.closed...)
				s.waits(link + "x")
			}
			s.record(b.name + " completion")
			s.keys(b.rename...)
			if b.told {
				s.waits("Rename Meetings/Project Alpha Kickoff.md")
			}
			s.until("the links do not follow", func() bool {
				return strings.Contains(readFile(t, e.note("Projects", "Project Beacon.md")), "[[Alpha Start#Radio]]")
			})
			_, err := os.Stat(e.note("Meetings", "Alpha Start.md"))
			if moved := err == nil; moved != b.moves {
				t.Errorf("the file was renamed: %v, want %v\n%s", moved, b.moves, s.screen())
			}
			s.record(b.name + " rename")
		})
	}
}

// terminal is a program in tmux.
type terminal struct {
	t *testing.T
	e *editor
}

// terminal starts a command line in a terminal of its own.
func (e *editor) terminal(t *testing.T, command string) *terminal {
	t.Helper()
	s := &terminal{t: t, e: e}
	s.tmux("new-session", "-d", "-x", "110", "-y", "30", "-s", "it", command)
	t.Cleanup(func() { _ = s.e.command(t, "tmux", "-S", filepath.Join(e.home, "tmux"), "kill-server").Run() })
	return s
}

func (s *terminal) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.e.command(s.t, "tmux", append([]string{"-S", filepath.Join(s.e.home, "tmux"), "-f", os.DevNull}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *terminal) screen() string { return s.tmux("capture-pane", "-p", "-t", "it") }

// keys presses keys, by the names that tmux has for them; WAIT before a text waits until the screen shows it,
// SLEEP a second.
func (s *terminal) keys(keys ...string) {
	s.t.Helper()
	for _, key := range keys {
		if text, ok := strings.CutPrefix(key, "WAIT "); ok {
			s.waits(text)
			continue
		}
		if key == "SLEEP" { // Eglot sends changes when nobody types
			pause(time.Second)
			continue
		}
		s.tmux("send-keys", "-t", "it", key)
		pause(100 * time.Millisecond) // a key that follows an escape at once is another key
	}
}

// pause waits where only the clock can tell: tmux says neither that a key was taken nor that the screen has changed.
func pause(d time.Duration) { <-time.After(d) }

func (s *terminal) waits(text string) {
	s.t.Helper()
	s.until("the screen does not show "+text, func() bool {
		shown := s.screen()
		whole := strings.NewReplacer("\\\n", "", "\n", "").Replace(shown) // lines that were broken
		return strings.Contains(shown, text) || strings.Contains(whole, text)
	})
}

func (s *terminal) until(otherwise string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(screenWait); !is(); pause(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s:\n%s", otherwise, s.screen())
		}
	}
}

// record keeps the screen in the folder $CTXD_SCREENS, if there is one.
func (s *terminal) record(name string) {
	if dir := os.Getenv("CTXD_SCREENS"); dir != "" {
		writeFile(s.t, filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".txt"), s.screen())
	}
}
