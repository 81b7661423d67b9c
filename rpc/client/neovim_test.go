package client_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConformance_CLI1_Neovim types into a real Neovim that has the plugin, and reads its screen.
func TestConformance_CLI1_Neovim(t *testing.T) {
	wantEditor(t, "nvim", "go")
	e := newEditor(t)
	for _, c := range []struct {
		name string
		try  func(*testing.T, *editor)
	}{
		{"CompletesLinksWithoutALanguageServer", nvimCompletes},
		{"IsASourceOfNvimCmp", nvimIsASource},
		{"CompletesInNvimCmp", nvimCompletesInCmp},
		{"ListsWhatASearchFinds", nvimSearches},
		{"ListsRelatedNotes", nvimRelates},
		{"ShowsThePromptForANote", nvimAssembles},
		{"DrawsTheGraph", nvimDraws},
		{"AsksAndRemembers", nvimAsks},
		{"CompletesItsCommandLine", nvimCompletesCommands},
		{"ChecksItsHealth", nvimChecksHealth},
		{"SaysWhatIsMissing", nvimMisses},
		{"StartsTheLanguageServer", nvimServes},
	} {
		t.Run(c.name, func(t *testing.T) { c.try(t, e) })
	}
}

// nvim opens a note in a Neovim whose only plugin is ours, set up as given.
func (e *editor) nvim(t *testing.T, setup, note string) *neovim {
	t.Helper()
	plugin, err := filepath.Abs("nvim")
	if err != nil {
		t.Fatal(err)
	}
	init := filepath.Join(t.TempDir(), "init.lua")
	writeFile(t, init, `
vim.opt.runtimepath:append('`+plugin+`')
vim.opt.runtimepath:append('`+plugin+`/after')
vim.o.swapfile, vim.o.shadafile, vim.o.shortmess = false, 'NONE', vim.o.shortmess .. 'I'
vim.o.termguicolors = true
require('ctxd').setup(`+setup+`)
`)
	n := startNeovim(t, e.command(t, "nvim", "--embed", "-u", init, "-i", "NONE", "-n", note))
	n.sees(filepath.Base(note))
	return n
}

const withoutServer = `{ lsp = false, timeout = 60000 }`

// waitsForOmnifunc waits until the buffer is known to be of a vault.
func (n *neovim) waitsForOmnifunc() {
	n.t.Helper()
	if n.lua(`return vim.wait(60000, function() return vim.bo.omnifunc:find('ctxd') ~= nil end, 5)`) != true {
		n.t.Fatal("the buffer got no completion")
	}
}

func nvimCompletes(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Journal", "2025-03-04.md"))
	n.waitsForOmnifunc()
	n.keys("Go[[Project Al<C-x><C-o>")
	n.sees("Meetings/Project Alpha Kickoff.md", "match 1 of")
	n.record("nvim-completion")
	n.keys("<C-n><C-y><Esc>")
	n.sees("[[Project Alpha Kickoff]]")
	n.waits("the menu stays", func(screen string) bool { return !strings.Contains(screen, "Meetings/") })
	// Brackets that stand behind the cursor are not written again.
	n.keys("o[[]]<Left><Left>Project Al<C-x><C-o>")
	n.sees("Meetings/Project Alpha Kickoff.md")
	n.keys("<C-y><Esc>")
	if line := n.lua(`return vim.api.nvim_get_current_line()`); line != "[[Project Alpha]]" {
		t.Errorf("the line is %q", line)
	}
	n.keys("omet @Alice<C-x><C-o>")
	n.sees("Alice Novak", "Person")
	n.keys("<C-y> #han<C-x><C-o>")
	n.sees("handbook")
	n.keys("<C-y><Esc>")
	if line, _ := n.lua(`return vim.api.nvim_get_current_line()`).(string); !strings.HasPrefix(line, "met @Alice Novak #handbook") {
		t.Errorf("the line is %q", line)
	}
}

// nvimIsASource calls the source as nvim-cmp does.
func nvimIsASource(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Journal", "2025-03-04.md"))
	got := n.lua(`
local source, answer = require('ctxd.cmp').new(), nil
local line = 'see [[Project Al'
source:complete({ context = { bufnr = 0, cursor = { row = 1, col = #line + 1 }, cursor_line = line } }, function(a) answer = a end)
vim.wait(60000, function() return answer end, 5)
local edit = answer.items[1].textEdit
return { source:is_available(), edit.newText, edit.range.start.character, edit.range['end'].character }`)
	if want := []any{true, "Project Alpha]]", 6, 16}; !slices.Equal(got.([]any), want) {
		t.Errorf("%v instead of %v", got, want)
	}
}

// nvimCompletesInCmp runs where somebody has the plugin: it comes from no package.
func nvimCompletesInCmp(t *testing.T, e *editor) {
	cmp := os.Getenv("CTXD_NVIM_CMP")
	if cmp == "" {
		t.Skip("set CTXD_NVIM_CMP to a checkout of nvim-cmp")
	}
	n := e.nvim(t, withoutServer+`)
vim.opt.runtimepath:append('`+cmp+`')
require('cmp').setup({ sources = { { name = 'ctxd' } },
  mapping = { ['<C-y>'] = require('cmp').mapping.confirm({ select = true }) }`+"}", e.note("Journal", "2025-03-04.md"))
	n.keys("Gosee [[")
	n.keys("Project Al")
	n.sees("Project Alpha Kickoff ", "File")
	n.record("nvim-cmp")
	n.keys("<C-y>")
	n.sees("see [[Project Alpha]]")
}

func nvimSearches(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Journal", "2025-03-04.md"))
	n.keys(":Ctxd search how heavy is the scale<CR>")
	n.sees("ctxd search how heavy is the scale", ".md|1|")
	n.record("nvim-search")
	n.keys("<CR>")
	if name, _ := n.lua(`vim.wait(60000, function() return vim.bo.filetype == 'markdown' end, 5); return vim.fn.expand('%:p')`).(string); !strings.HasPrefix(name, e.vault) ||
		strings.Contains(name, "2025-03-04") {
		t.Errorf("the first hit opened %q", name)
	}
	n.keys(":Ctxd search zzzqqqxxx<CR>")
	n.sees("nothing is about zzzqqqxxx")
}

func nvimRelates(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Meetings", "Project Alpha Kickoff.md"))
	n.keys(":Ctxd related<CR>")
	n.sees("ctxd related Project Alpha Kickoff", "Projects/Project Alpha.md|1|")
	n.record("nvim-related")
}

func nvimAssembles(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Meetings", "Project Alpha Kickoff.md"))
	n.keys(":Ctxd context what did @Alice decide?<CR>")
	n.sees("ctxd://context", "Alice Novak (Person)", "copied")
	n.record("nvim-context")
	if text, _ := n.lua(`return vim.fn.getreg('"')`).(string); !strings.Contains(text, "role: Engineering Manager") {
		t.Errorf("the register has %q", text)
	}
	// q closes the window; without words the prompt is about the note.
	n.keys("q")
	n.waits("the window stays", func(screen string) bool { return !strings.Contains(screen, "ctxd://context") })
	n.keys(":Ctxd! context<CR>")
	n.sees("copied")
	if text, _ := n.lua(`vim.wait(60000, function() return vim.fn.getreg('"'):find('long table') end, 5); return vim.fn.getreg('"')`).(string); !strings.Contains(text, "Project Alpha Kickoff") {
		t.Errorf("the register has %q", text)
	}
}

func nvimDraws(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Meetings", "Project Alpha Kickoff.md"))
	n.keys(":Ctxd graph<CR>")
	n.sees("ctxd://graph", "→ 10 notes")
	n.record("nvim-graph")
	n.keys("q:Ctxd graph Nobody At All<CR>")
	n.sees("Nobody At All")
}

func (n *neovim) waitsForAnswer() {
	n.t.Helper()
	n.lua(`vim.wait(60000, function() return not vim.b[vim.fn.bufnr('ctxd://answer')].ctxd_asking end, 5)`)
}

func nvimAsks(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Meetings", "Project Alpha Kickoff.md"))
	n.keys(":Ctxd ask Who came?<CR>")
	n.sees("ctxd://answer", "# Who came?", "No provider of language models is configured.")
	n.record("nvim-ask")
	n.waitsForAnswer()
	// A second question goes on with the conversation.
	n.keys(":Ctxd ask And who did not?<CR>")
	n.sees("# And who did not?")
	n.waitsForAnswer()
	if list := e.run(t, "chat", "list", "--json"); strings.Count(list, `"messages":4`) != 1 {
		t.Errorf("the conversations are %s", list)
	}
	n.keys("ggO<Esc>iThe kettle is blue.<Esc>V:Ctxd remember<CR>")
	n.sees("remembered as #1")
	if list := e.run(t, "memory", "list", "--json"); !strings.Contains(list, "The kettle is blue.") {
		t.Errorf("the memories are %s", list)
	}
}

func nvimCompletesCommands(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Meetings", "Project Alpha Kickoff.md"))
	n.keys(":Ctxd <Tab>")
	n.sees("ask", "context", "graph", "related", "remember", "search")
	n.keys("<C-u>Ctxd graph Project Alpha K<Tab><CR>")
	n.sees("ctxd://graph", "→ 10 notes")
	n.keys(":Ctxd nonsense<CR>")
	n.sees("there is no :Ctxd nonsense")
}

func nvimChecksHealth(t *testing.T, e *editor) {
	n := e.nvim(t, withoutServer, e.note("Meetings", "Project Alpha Kickoff.md"))
	t.Logf("Neovim %v", n.lua(`local v = vim.version(); return v.major .. '.' .. v.minor .. '.' .. v.patch`))
	n.keys(":checkhealth ctxd<CR>")
	n.sees("the daemon is healthy", "vault Notes")
	n.record("nvim-health")
	// The help has its tags.
	help := t.TempDir()
	if err := os.CopyFS(help, os.DirFS(filepath.Join("nvim", "doc"))); err != nil {
		t.Fatal(err)
	}
	n.call("nvim_command", "helptags "+help)
}

func nvimMisses(t *testing.T, e *editor) {
	n := e.nvim(t, `{ cmd = 'ctxd-is-not-here' }`, e.note("Meetings", "Project Alpha Kickoff.md"))
	n.keys(":Ctxd search anything<CR>")
	n.sees("there is no program ctxd-is-not-here")
}

// nvimServes completes by the language server, from what is not saved.
func nvimServes(t *testing.T, e *editor) {
	n := e.nvim(t, `{ timeout = 60000 }`, e.note("Journal", "2025-03-04.md"))
	n.waitsForOmnifunc()
	if n.lua(`return vim.wait(60000, function()
  local client = require('ctxd.lsp').client(0)
  return client and client.initialized
end, 5)`) != true {
		t.Fatal("the language server did not start")
	}
	n.keys("Go[[]]<Left><Left>Project Al<C-x><C-o>")
	n.sees("Project Alpha Kickoff", "match 1 of")
	n.record("nvim-server")
	n.keys("<C-y><Esc>")
	if line := n.lua(`return vim.api.nvim_get_current_line()`); line != "[[Project Alpha]]" {
		t.Errorf("the line is %q", line)
	}
	if root := n.lua(`return require('ctxd.lsp').client(0).config.root_dir`); root != e.vault {
		t.Errorf("the root is %q", root)
	}
	// A Markdown file of no vault has none.
	other := filepath.Join(e.home, "README.md")
	writeFile(t, other, "# Not a note\n")
	n.keys(":w<CR>:edit " + other + "<CR>")
	n.sees("Not a note")
	if n.lua(`
local answer
require('ctxd.vault').root(vim.fn.expand('%:p'), function(root) answer = { root } end)
vim.wait(60000, function() return answer end, 5)
return answer[1] == nil and require('ctxd.lsp').client(0) == nil and not vim.bo.omnifunc:find('ctxd')`) != true {
		t.Error("a file of no vault has a language server")
	}
	n.keys(":checkhealth ctxd<CR>")
	n.sees("the language server serves 2025-03-04.md")
}
