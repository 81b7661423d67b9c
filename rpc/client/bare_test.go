package client_test

import (
	"cmp"
	"html"
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
	config  string   // PLUGIN is the checkout that $plugin names, SETTINGS is replaced by settings where these are wanted
	always  string   // settings that import a vault without a question
	plugin  string
	command string // CONFIG is the file, NOTE the note
	ready   string // on the screen when the server is there; "" when nothing says so

	link     string   // what comes of complete; [[Project Alpha]] when empty
	complete []string // keys that type a link at the end of the note and take the first choice
	closed   []string // the same between brackets that are closed already, with an x behind; nil where it cannot be
	rename   []string // keys that rename the note of the link to Alpha Start, and save all
	moves    bool     // it renames the file
	told     bool     // else it shows which file is to be renamed

	// Keys that complete text in a line of its own at the end of the note to what is wanted, and that give the note of the link
	// another name; nil where this is not tried.
	types  func(text, want string) []string
	names  func(name string) []string
	misses []string // of the texts that are tried, those that it does not complete
}

func bareEditors() []bareEditor {
	// The first choice is inserted at once; without a menu, for a single one, CTRL-Y would copy a character from the line above.
	omni := func(text, want string) []string { return []string{"Go" + text, "C-x", "C-o", "WAIT " + want, "Escape"} }
	neovim := func(name, program, config string) bareEditor {
		return bareEditor{
			name: name, needs: []string{program}, file: "init.lua", config: config, ready: "attached", command: program + " -u CONFIG -i NONE -n NOTE",
			complete: []string{"Go[[Project Al", "C-x", "C-o", "WAIT Meetings/Project Alpha Kickoff", "C-y", "Escape"},
			rename: []string{
				"gg/Project Alpha K", "Enter", ":lua vim.lsp.buf.rename('Alpha Start')", "Enter", "WAIT [[Alpha Start]]", ":wall", "Enter",
			}, moves: true,
			always: ", init_options = { import = 'always' }",
			types:  omni,
			names: func(name string) []string {
				name = strings.ReplaceAll(name, "\t", `\t`)
				return []string{"Escape", "gg/Project Alpha K", "Enter", ":lua vim.lsp.buf.rename('" + name + "')", "Enter"}
			},
		}
	}
	list := []bareEditor{
		neovim("the Neovim of $PATH", "nvim", `vim.o.swapfile = false
vim.api.nvim_create_autocmd('FileType', { pattern = 'markdown', callback = function(ev)
  local id = vim.lsp.start_client({ name = 'ctxd', cmd = { 'ctxd', 'lsp' }SETTINGS,
    on_attach = function() vim.o.laststatus, vim.o.statusline = 2, 'attached' end })
  vim.lsp.buf_attach_client(ev.buf, id)
  vim.bo[ev.buf].omnifunc = 'v:lua.vim.lsp.omnifunc'
end })`),
		neovim("the Neovim of $CTXD_NVIM", os.Getenv("CTXD_NVIM"), `vim.o.swapfile = false
vim.lsp.config('ctxd', { cmd = { 'ctxd', 'lsp' }SETTINGS, filetypes = { 'markdown' },
  on_attach = function() vim.o.laststatus, vim.o.statusline = 2, 'attached' end,
  root_markers = { { '.ctxd', '.obsidian', '.logseq', 'logseq/config.edn' }, '.git' } })
vim.lsp.enable('ctxd')`),
		{
			name: "vim-lsp", needs: []string{"vim"}, file: "vimrc", plugin: "CTXD_VIM_LSP", command: "vim -u CONFIG -i NONE NOTE",
			config: `set nocompatible noswapfile
filetype plugin on
set rtp+=PLUGIN
au BufRead *.md setlocal filetype=markdown
au User lsp_setup call lsp#register_server({'name': 'ctxd', 'cmd': ['ctxd', 'lsp']SETTINGS, 'allowlist': ['markdown']})
au User lsp_buffer_enabled setlocal omnifunc=lsp#complete laststatus=2 statusline=attached`, ready: "attached",
			complete: []string{"Go[[project al", "C-x", "C-o", "WAIT Kickoff", "C-y", "Escape"},
			closed:   []string{"o[[]]", "Left", "Left", "project al", "C-x", "C-o", "WAIT Kickoff", "C-y", "x", "Escape"},
			rename: []string{
				"gg/Project Alpha K", "Enter", ":LspRename", "Enter", "WAIT new name", "C-u", "Alpha Start", "Enter", "WAIT [[Alpha Start]]",
				":silent wall", "Enter", ":messages", "Enter",
			}, told: true,
			always: ", 'initialization_options': {'import': 'always'}",
			types:  omni,
			names: func(name string) []string {
				return []string{"Escape", "gg/Project Alpha K", "Enter", ":LspRename", "Enter", "WAIT new name", "C-u", name, "Enter"}
			},
		},
		{
			name: "Vim9 LSP", needs: []string{"vim"}, file: "vimrc", plugin: "CTXD_VIM9_LSP", command: "vim -u CONFIG -i NONE NOTE",
			config: `set nocompatible noswapfile hidden laststatus=2
filetype plugin on
set rtp+=PLUGIN
runtime plugin/lsp.vim
au BufRead *.md setlocal filetype=markdown
au User LspAttached setlocal statusline=attached
call LspOptionsSet({'autoComplete': v:false, 'omniComplete': v:true})
call LspAddServer([{'name': 'ctxd', 'filetype': ['markdown'], 'path': 'ctxd', 'args': ['lsp']SETTINGS}])`, ready: "attached",
			complete: []string{"Go[[Project Al", "C-x", "C-o", "WAIT [[Project Alpha]]", "C-y", "Escape"},
			rename: []string{
				"gg/Project Alpha K", "Enter", ":LspRename", "Enter", "WAIT Rename symbol", "C-u", "Alpha Start", "Enter", "WAIT [[Alpha Start]]",
				":silent wall", "Enter",
			}, moves: true,
			always: ", 'initializationOptions': {'import': 'always'}",
			types:  omni, misses: []string{"[[##Why a sec"},
			names: func(name string) []string {
				return []string{"Escape", "gg/Project Alpha K", "Enter", ":LspRename", "Enter", "WAIT Rename symbol", "C-u", name, "Enter"}
			},
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
(add-to-list 'eglot-server-programs '(markdown-mode . ("ctxd" "lsp"SETTINGS)))
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
			always: ` :initializationOptions (:import "always")`,
			types:  func(text, want string) []string { return []string{"M->", "Enter", text, "C-c", "c", "WAIT " + want} },
			misses: []string{"[radio](../Vendors/Licht"}, // the whole path is the word that it compares
			names: func(name string) []string {
				return []string{"SLEEP", "M-<", "C-s", "Project Alpha K", "Enter", "C-c", "r", "WAIT Rename", name, "Enter"}
			},
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
	list[0].misses = []string{"[radio](Lichtw", "[[##Why a sec", "[[today"} // it shows only what begins with what was typed
	return list
}

// TestConformance_LSP9_BareEditors presses keys in editors that have nothing of ours but the command, in a terminal of tmux:
// a link is completed, and a note is renamed. Those of $CTXD_NVIM (a newer Neovim), $CTXD_VIM_LSP (a checkout of vim-lsp) and
// $CTXD_VIM9_LSP (one of yegappan/lsp) are tried where these are set.
func TestConformance_LSP9_BareEditors(t *testing.T) {
	for _, b := range bareEditors() {
		t.Run(b.name, func(t *testing.T) {
			e := newBareEditor(t, b)
			s := e.edit(t, b, "", "Journal/2025-03-04.md")
			s.waits("Kickoff day")
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

// newBareEditor skips the test where the editor is not here.
func newBareEditor(t *testing.T, b bareEditor) *editor {
	t.Helper()
	if slices.Contains(b.needs, "") || b.plugin != "" && os.Getenv(b.plugin) == "" {
		t.Skip("the variable that names it is not set")
	}
	wantEditor(t, append(b.needs, "tmux", "go")...)
	return newEditor(t)
}

// edit opens a note in the editor and waits for the server.
func (e *editor) edit(t *testing.T, b bareEditor, settings, note string) *terminal {
	t.Helper()
	config := filepath.Join(e.home, b.file)
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, config, strings.NewReplacer("PLUGIN", os.Getenv(b.plugin), "SETTINGS", settings).Replace(b.config))
	s := e.terminal(t, strings.NewReplacer("CONFIG", config, "NOTE", note).Replace(b.command))
	s.waits(b.ready)
	return s
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

// record keeps the screen, see keepScreen.
func (s *terminal) record(name string) {
	text := s.screen()
	keepScreen(s.t, name, text, `<!doctype html><meta charset=utf-8><pre style="font:15px/1.25 monospace">`+html.EscapeString(text)+"</pre>")
}
