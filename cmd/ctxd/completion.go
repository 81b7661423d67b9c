package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return "The script completes commands, flags, their values and the methods of the protocol. " +
		"It asks the running daemon for the names of types, fields and vaults, and for what a reference may mean."
}

func (completionCmd) Examples() []term.Example {
	return []term.Example{
		{`eval "$(ctxd completion bash)"`, "in ~/.bashrc"},
		{"ctxd completion zsh > ~/.zfunc/_ctxd", "in a folder of $fpath"},
		{"ctxd completion fish > ~/.config/fish/completions/ctxd.fish", "for fish"},
	}
}

func (c *completionCmd) Run(a *app) error {
	write := map[string]func(io.Writer, []*completed){"bash": writeBash, "zsh": writeZsh, "fish": writeFish}[c.Shell]
	var script strings.Builder
	write(&script, completions(a.kong.Model.Node, "", nil))
	_, err := io.WriteString(a.Out, script.String())
	return err
}

// completed is what can follow one command.
type completed struct {
	path     string // "inspect note"; "" for ctxd itself
	commands []choice
	flags    []completedFlag
	args     values // of its arguments
}

// choice is a word and what it means.
type choice struct{ word, help string }

// values are the words that may stand in a place. The zero value is any text.
type values struct {
	words []string
	dirs  bool // folders
	files bool // files and folders
	live  live // what the running daemon knows
}

// live are words that only the running daemon knows. Where none runs there are
// none.
type live string

const (
	liveTypes         live = "types"
	liveVaults        live = "vaults"
	liveFields        live = "fields" // of all types; several may be given, with commas
	liveRefs          live = "refs"   // handles, #numbers, and titles of notes behind [[
	liveMarked        live = "marked" // of these, what begins with a mark: the argument is a message
	liveTools         live = "tools"
	livePersonalities live = "personalities"
)

// offers tells the live words that depend on what was typed, since there are too many to list.
func (l live) offers() bool { return l == liveRefs || l == liveMarked }

// command is the shell command that prints the words, one a line. What was typed follows one that offers.
func (l live) command() string {
	switch l {
	case liveRefs:
		return "ctxd offer --"
	case liveMarked:
		return "ctxd offer --mark --"
	case liveVaults:
		return `ctxd call vault.list 2>/dev/null | tr '{,' '\n\n' | sed -n 's/^ *"vault": *"\(.*\)"$/\1/p'`
	case livePersonalities:
		return `ctxd call personality.list 2>/dev/null | tr '{,' '\n\n' | sed -n 's/^ *"id": *"\(.*\)"$/\1/p'`
	case liveTools:
		return `ctxd call tools.list write=true 2>/dev/null | tr '{,' '\n\n' | sed -n 's/^ *"name": *"\(.*\)"$/\1/p'`
	}
	list := `ctxd wql '\t' --format tsv 2>/dev/null | tail -n +2`
	if l == liveFields {
		return list + " | cut -f3 | tr , '\\n' | sort -u"
	}
	return list + " | cut -f1"
}

type completedFlag struct {
	name, short, help string
	takesValue        bool
	values            values
}

// completions lists a command and those below it.
func completions(node *kong.Node, path string, inherited []*kong.Flag) []*completed {
	c := &completed{path: path}
	flags := slices.Concat(inherited, node.Flags)
	taken := flags
	if d := node.DefaultCmd; d != nil && d.Tag.Default == "withargs" {
		taken = slices.Concat(flags, d.Flags)
	}
	for _, f := range taken {
		if f.Hidden {
			continue
		}
		flag := completedFlag{
			name: f.Name, help: firstSentence(f.Help), takesValue: !f.IsBool(),
			values: valuesOf(f.Value, f.PlaceHolder),
		}
		if f.Short != 0 {
			flag.short = string(f.Short)
		}
		c.flags = append(c.flags, flag)
	}
	if len(node.Positional) > 0 {
		c.args = valuesOf(node.Positional[0], strings.ToUpper(node.Positional[0].Name))
	}
	all := []*completed{c}
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		c.commands = append(c.commands, choice{child.Name, firstSentence(child.Help)})
		all = append(all, completions(child, strings.TrimSpace(path+" "+child.Name), flags)...)
	}
	return all
}

func valuesOf(v *kong.Value, valueName string) values {
	switch {
	case v.Enum != "":
		return values{words: strings.Split(v.Enum, ",")}
	case valueName == "DIR":
		return values{dirs: true}
	case valueName == "PATH", valueName == "FILE":
		return values{files: true}
	case valueName == "TYPE":
		return values{live: liveTypes}
	case valueName == "VAULT":
		return values{live: liveVaults}
	case valueName == "TOOL":
		return values{live: liveTools}
	case valueName == "PERSONALITY":
		return values{live: livePersonalities}
	case valueName == "FIELDS":
		return values{live: liveFields}
	case valueName == "REF", valueName == "CONVERSATION", valueName == "MEMORY", valueName == "CONTEXT", valueName == "PREFIX":
		return values{live: liveRefs}
	case valueName == "TEXT":
		return values{live: liveMarked}
	case valueName == "METHOD":
		return values{words: protocol.Names()}
	case valueName == "TOPIC":
		words := make([]string, len(protocol.Topics))
		for i, t := range protocol.Topics {
			words[i] = string(t)
		}
		return values{words: words}
	case valueName == "KEY":
		return values{words: config.Default().Keys()}
	case valueName == "PROMPT":
		return values{words: prompts.Names()}
	}
	return values{}
}

// firstSentence returns the beginning of a help text, without its full stop.
func firstSentence(help string) string {
	head, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(head, ".")
}

// listed are the live words that a shell lists whole, each of which begins what it completes.
var listed = []live{liveTypes, liveVaults, liveTools, livePersonalities}

// The functions of shells that complete one of these, by its name and its command.
const (
	bashLister = `_ctxd_%s() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$(%s)" -- "$cur"))
}
`
	zshLister = `_ctxd_%s() {
  local -a found=("${(@f)$(%s)}")
  compadd -a found
}
`
)

// listers are the functions of a shell for all of them.
func listers(form string) string {
	var b strings.Builder
	for _, l := range listed {
		fmt.Fprintf(&b, form, l, l.command())
	}
	return b.String()
}

// bashHead avoids what bash 3.2 lacks, the one that macOS has.
const bashHead = `# bash completion for ctxd: eval "$(ctxd completion bash)"
_ctxd_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_ctxd_paths() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$cur"))
}
%s_ctxd_fields() { # the last of several
  local IFS=$'\n' before=
  [[ $cur == *,* ]] && before=${cur%%,*},
  COMPREPLY=($(compgen -P "$before" -W "$(%s)" -- "${cur##*,}"))
}
_ctxd_offer() { # $1: --mark for a message
  local IFS=$'\n' found word
  # bash takes @handle apart behind the @, and has the quote that a word begins with in it
  word=${cur#[\"\']}
  [[ $cur == @ ]] && cur=
  [[ $prev == @ || $word == @ ]] && word=@$cur
  found=($(ctxd offer $1 -- "$word" 2>/dev/null))
  for word in "${found[@]}"; do
    [[ $COMP_WORDBREAKS == *@* ]] && word=${word#@}
    [[ $word == "${cur#[\"\']}"* ]] || continue
    [[ $cur == [\"\']* ]] || word=$(printf %%q "$word")
    COMPREPLY+=("$word")
  done
}
_ctxd_refs() { _ctxd_offer; }
_ctxd_marked() { _ctxd_offer --mark; }
_ctxd() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= i
  # bash takes --flag=value apart at the equals sign
  if [[ $cur == "=" ]]; then cur=
  elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${path:+$path }${COMP_WORDS[i]}" in
      %s) path="${path:+$path }${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path $prev" in
`

func writeBash(w io.Writer, all []*completed) {
	var paths []string
	for _, c := range all[1:] {
		paths = append(paths, `"`+c.path+`"`)
	}
	fmt.Fprintf(w, bashHead, listers(bashLister), liveFields.command(), strings.Join(paths, "|"))
	for _, c := range all {
		for _, f := range c.flags {
			if !f.takesValue {
				continue
			}
			pattern := fmt.Sprintf("%q", c.path+" --"+f.name)
			if f.short != "" {
				pattern += fmt.Sprintf("|%q", c.path+" -"+f.short)
			}
			fmt.Fprintf(w, "    %s) %s; return ;;\n", pattern, bashWords(f.values, nil))
		}
	}
	fmt.Fprint(w, "  esac\n  case \"$path\" in\n")
	for _, c := range all {
		var flags []string
		for _, f := range c.flags {
			flags = append(flags, "--"+f.name)
		}
		fmt.Fprintf(w, "    %q) if [[ $cur == -* ]]; then %s; else %s; fi ;;\n",
			c.path, bashWords(values{words: flags}, nil), bashWords(c.args, c.commands))
	}
	fmt.Fprint(w, "  esac\n}\ncomplete -F _ctxd ctxd\n")
}

func bashWords(v values, commands []choice) string {
	words := v.words
	for _, c := range commands {
		words = append(words, c.word)
	}
	switch {
	case v.dirs:
		return "_ctxd_paths -d"
	case v.files:
		return "_ctxd_paths -f"
	case v.live != "":
		return "_ctxd_" + string(v.live)
	case len(words) == 0:
		return ":"
	}
	return `_ctxd_words "` + strings.Join(words, " ") + `"`
}

const zshHead = `#compdef ctxd
# zsh completion for ctxd: put it as _ctxd into a folder of $fpath
%s_ctxd_fields() {
  local -a found=("${(@f)$(%s)}")
  _sequence compadd - "${found[@]}"
}
_ctxd_refs() {
  local -a found=("${(@f)$(%s "${(Q)PREFIX}" 2>/dev/null)}")
  [[ -n $found ]] && compadd -a found
}
_ctxd_marked() {
  local -a found=("${(@f)$(%s "${(Q)PREFIX}" 2>/dev/null)}")
  [[ -n $found ]] && compadd -a found
}
`

func writeZsh(w io.Writer, all []*completed) {
	fmt.Fprintf(w, zshHead, listers(zshLister), liveFields.command(), liveRefs.command(), liveMarked.command())
	for _, c := range all {
		fmt.Fprintf(w, "\n%s() {\n  local curcontext=\"$curcontext\" state line\n  local -A opt_args\n  _arguments -C \\\n", zshName(c.path))
		for _, f := range c.flags {
			fmt.Fprintf(w, "    %s \\\n", zshFlag(f))
		}
		if len(c.commands) == 0 {
			fmt.Fprintf(w, "    '*:: :%s'\n}\n", zshValues(c.args))
			continue
		}
		fmt.Fprint(w, "    '1: :->command' '*:: :->rest'\n  case $state in\n    command) local -a commands=(\n")
		for _, ch := range c.commands {
			fmt.Fprintf(w, "        '%s:%s'\n", ch.word, zshText(ch.help))
		}
		fmt.Fprint(w, "      ); _describe command commands ;;\n    rest) case $line[1] in\n")
		for _, ch := range c.commands {
			fmt.Fprintf(w, "        %s) %s ;;\n", ch.word, zshName(strings.TrimSpace(c.path+" "+ch.word)))
		}
		fmt.Fprint(w, "      esac ;;\n  esac\n}\n")
	}
	fmt.Fprint(w, "\nif [[ $funcstack[1] == _ctxd ]]; then _ctxd \"$@\"; else compdef _ctxd ctxd; fi\n")
}

func zshName(path string) string {
	return strings.TrimSuffix("_ctxd_"+strings.ReplaceAll(path, " ", "_"), "_")
}

func zshFlag(f completedFlag) string {
	out := "'*--" + f.name
	if f.takesValue {
		out += "="
	}
	out += "[" + zshText(f.help) + "]"
	if f.takesValue {
		out += ":" + f.name + ":" + zshValues(f.values)
	}
	return out + "'"
}

func zshValues(v values) string {
	switch {
	case v.dirs:
		return "_directories"
	case v.files:
		return "_files"
	case v.live != "":
		return "_ctxd_" + string(v.live)
	case len(v.words) > 0:
		return "(" + strings.Join(v.words, " ") + ")"
	}
	return " "
}

// zshText writes a text within single quotes and brackets.
func zshText(s string) string {
	return strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`, "$", `\$`).Replace(s)
}

const fishHead = `# fish completion for ctxd: put it into ~/.config/fish/completions/ctxd.fish
function __ctxd_at
    set -l path
    for word in (commandline -opc)[2..]
        contains -- (string join -- ' ' $path $word) %s; and set path $path $word
    end
    set -l at (string join -- ' ' $path)
    test "$at" = "$argv[1]"
end
complete -c ctxd -f
`

func writeFish(w io.Writer, all []*completed) {
	var paths []string
	for _, c := range all[1:] {
		paths = append(paths, fishText(c.path))
	}
	fmt.Fprintf(w, fishHead, strings.Join(paths, " "))
	for _, c := range all {
		at := "complete -c ctxd -n " + fishText("__ctxd_at "+fishText(c.path))
		for _, ch := range c.commands {
			fmt.Fprintf(w, "%s -a %s -d %s\n", at, ch.word, fishText(ch.help))
		}
		if s := fishValues(c.args); s != "" {
			fmt.Fprintf(w, "%s -a %s\n", at, s)
		}
		for _, f := range c.flags {
			fmt.Fprintf(w, "%s -l %s", at, f.name)
			if f.short != "" {
				fmt.Fprintf(w, " -s %s", f.short)
			}
			if f.takesValue {
				fmt.Fprint(w, map[bool]string{true: " -r", false: " -x"}[f.values.files])
			}
			if s := fishValues(f.values); s != "" {
				fmt.Fprintf(w, " -a %s", s)
			}
			fmt.Fprintf(w, " -d %s\n", fishText(f.help))
		}
	}
}

func fishValues(v values) string {
	switch {
	case v.dirs:
		return "'(__fish_complete_directories)'"
	case v.live.offers():
		return fishText("(" + v.live.command() + " (commandline -ct | string unescape) 2>/dev/null)")
	case v.live != "":
		return fishText("(" + v.live.command() + ")")
	case len(v.words) > 0:
		return fishText(strings.Join(v.words, " "))
	}
	return ""
}

// fishText writes a text within single quotes.
func fishText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
