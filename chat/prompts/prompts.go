package prompts

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
)

// Prompt is what a model is asked.
type Prompt struct {
	System string
	User   string
}

// The names of the templates.
const (
	TitleName   = "title"
	DistillName = "distill"
	SummaryName = "summary"
	OutcomeName = "outcome"
)

// The parts that each template has.
const (
	systemPart = "system"
	userPart   = "user"
)

// Sizes of a template and of what it makes, in bytes.
const (
	maxTemplate = 64 << 10
	maxPrompt   = 1 << 20
)

const extension = ".tmpl"

//go:embed *.tmpl
var builtIn embed.FS

// kind is a sort of prompt.
type kind struct {
	name, about string
	sample      any      // data that a template is tried with
	shows       []string // of the sample, what the model must be given
}

// kinds are all of them, by name. Each has a file NAME.tmpl.
var kinds = []kind{
	{
		name: CompareName, about: "says how pairs of remembered statements stand to each other",
		sample: compareData{Pairs: []comparedData{
			{"sample-ref-1", "sample-older-1", "sample-newer-1", "sample-day-1", "sample-day-2"},
			{"sample-ref-2", "sample-older-2", "sample-newer-2", "sample-day-3", "sample-day-4"},
		}},
		shows: []string{"sample-ref-1", "sample-older-1", "sample-newer-1", "sample-ref-2", "sample-older-2", "sample-newer-2"},
	},
	{
		name: DistillName, about: "chooses what of the memories that were found matters for a message",
		sample: distillData{Message: "sample-message", Items: []Item{{"sample-ref-1", "sample-text-1"}, {"sample-ref-2", "sample-text-2"}}},
		shows:  []string{"sample-message", "sample-ref-1", "sample-text-1", "sample-ref-2", "sample-text-2"},
	},
	{
		name: ExtractName, about: "finds what a person tells about themselves in a message",
		sample: extractData{Message: "sample-message", Kinds: "fact, goal"},
		shows:  []string{"sample-message"},
	},
	{
		name: OutcomeName, about: "says from a conversation whether the answers helped",
		sample: outcomeData{Turns: []Turn{{"user", "sample-text-1"}, {"assistant", "sample-text-2"}}},
		shows:  []string{"user", "sample-text-1", "assistant", "sample-text-2"},
	},
	{
		name: SummaryName, about: "says in one sentence what a note is about",
		sample: summaryData{Text: "sample-text", Chars: 100},
		shows:  []string{"sample-text"},
	},
	{
		name: TitleName, about: "gives a conversation its title",
		sample: titleData{Message: "sample-message", Answer: "sample-answer"},
		shows:  []string{"sample-message"},
	},
}

// Names are those of the templates, in the order of the alphabet.
func Names() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].name
	}
	return names
}

// Template is one that a Set makes prompts by.
type Template struct {
	Name  string `json:"name"`
	About string `json:"about"`
	File  string `json:"file,omitempty"` // of the person's that is used; empty: the one that is compiled in
	Text  string `json:"text"`
}

// Set makes prompts.
type Set struct {
	log *slog.Logger

	mu        sync.Mutex                    // guards what follows
	templates map[string]*template.Template // by name; those of the person's where there are any
	shown     map[string]Template
	warnings  []string
}

// BuiltIn returns a Set of the templates that are compiled in.
func BuiltIn() *Set { return Open("", slog.New(slog.DiscardHandler)) }

// Open returns a Set that takes the templates of a folder before those that are compiled in; "" is no folder. What is
// wrong there is logged, and is one of the Warnings.
func Open(dir string, log *slog.Logger) *Set {
	s := &Set{log: log, templates: map[string]*template.Template{}, shown: map[string]Template{}}
	for i := range kinds {
		s.useBuiltIn(&kinds[i])
	}
	if dir != "" {
		s.override(dir)
	}
	return s
}

// useBuiltIn has a prompt made by the template that is compiled in.
func (s *Set) useBuiltIn(k *kind) {
	text, t := compiledIn(k)
	s.templates[k.name] = t
	s.shown[k.name] = Template{Name: k.name, About: k.about, Text: text}
}

// compiledIn returns the template of a kind that is compiled in.
func compiledIn(k *kind) (text string, t *template.Template) {
	data, err := builtIn.ReadFile(k.name + extension)
	if err != nil {
		panic(err) // it is not in this folder: no test passes then
	}
	return string(data), template.Must(parse(k.name, string(data)))
}

func parse(name, text string) (*template.Template, error) {
	return template.New(name).Option("missingkey=error").Parse(text)
}

// override takes the templates of a folder. One that is not there is the one that is compiled in; a folder without any
// was meant to have some.
func (s *Set) override(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.warn("the folder %s of prompts.dir can't be read, so the prompts that are compiled in are used: %s", dir, reason(err))
		return
	}
	found := false
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		found = true
		s.take(name, filepath.Join(dir, e.Name()))
	}
	if !found {
		s.warn("the folder %s of prompts.dir has no template, so the prompts that are compiled in are used: "+
			"it may have %s", dir, strings.Join(files(), " and "))
	}
}

func files() []string {
	list := Names()
	for i := range list {
		list[i] += extension
	}
	return list
}

// take uses a template of the person's, if it is sound.
func (s *Set) take(name, file string) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if at < 0 {
		s.warn("there is no prompt of the name of %s: it is used for nothing; the names are %s", file, strings.Join(files(), " and "))
		return
	}
	k := &kinds[at]
	text, t, err := read(k, file)
	if err != nil {
		s.warn("%s is not used, and the prompt that is compiled in is: %s", file, reason(err))
		return
	}
	s.templates[name] = t
	s.shown[name] = Template{Name: name, About: k.about, File: file, Text: text}
}

// read reads a template and tries it.
func read(k *kind, file string) (text string, t *template.Template, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() {
		return "", nil, errors.New("it is no file")
	}
	if info.Size() > maxTemplate {
		return "", nil, fmt.Errorf("it has %d bytes, and a template has at most %d", info.Size(), maxTemplate)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	if !utf8.Valid(data) {
		return "", nil, errors.New("it is not UTF-8")
	}
	text = strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	if t, err = parse(k.name, text); err != nil {
		return "", nil, err
	}
	p, err := render(t, k.sample)
	if err != nil {
		return "", nil, err
	}
	for _, wanted := range k.shows {
		if !strings.Contains(p.User, wanted) {
			return "", nil, fmt.Errorf("its part %q does not show the model all that it needs: %s", userPart, fields(k))
		}
	}
	return text, t, nil
}

// fields says what a template has to show.
func fields(k *kind) string {
	switch k.name {
	case DistillName:
		return "{{.Message}}, and {{.Ref}} and {{.Text}} of each of {{range .Items}}"
	case OutcomeName:
		return "{{.Role}} and {{.Text}} of each of {{range .Turns}}"
	case SummaryName:
		return "{{.Text}}"
	case CompareName:
		return "{{.Ref}}, {{.Older}} and {{.Newer}} of each of {{range .Pairs}}"
	}
	return "{{.Message}}"
}

// render makes a prompt.
func render(t *template.Template, data any) (p Prompt, err error) {
	for _, part := range []struct {
		name string
		to   *string
	}{{systemPart, &p.System}, {userPart, &p.User}} {
		if t.Lookup(part.name) == nil {
			return Prompt{}, fmt.Errorf("it has no part %q: it needs {{define %q}} … {{end}}", part.name, part.name)
		}
		var b bounded
		if err := t.ExecuteTemplate(&b, part.name, data); err != nil {
			return Prompt{}, err
		}
		if *part.to = strings.TrimSpace(b.String()); *part.to == "" {
			return Prompt{}, fmt.Errorf("its part %q is empty", part.name)
		}
	}
	return p, nil
}

// bounded takes a prompt that is not too long.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxPrompt {
		return 0, fmt.Errorf("it makes a prompt of more than %d bytes", maxPrompt)
	}
	return b.Builder.Write(p)
}

var _ io.Writer = (*bounded)(nil)

// render makes a prompt by the template of a name. When one of the person's fails, the one that is compiled in is used
// from then on.
func (s *Set) render(name string, data any) Prompt {
	s.mu.Lock()
	t, file := s.templates[name], s.shown[name].File
	s.mu.Unlock()
	p, err := render(t, data)
	if err == nil {
		return p
	}
	k := &kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
	s.mu.Lock()
	if s.templates[name] == t { // of many calls at a time the first one
		s.useBuiltIn(k)
		s.warnLocked("%s has failed and is not used any more, and the prompt that is compiled in is: %s", file, reason(err))
	}
	s.mu.Unlock()
	_, own := compiledIn(k)
	p, _ = render(own, data) // what a Set gives a template is within its bounds
	return p
}

// List returns the templates, by name.
func (s *Set) List() []Template {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Template, 0, len(kinds))
	for i := range kinds {
		list = append(list, s.shown[kinds[i].name])
	}
	return list
}

// BuiltInText returns the template of a name that is compiled in. The error is NotFound.
func BuiltInText(name string) (string, error) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if at < 0 {
		return "", fault.New(fault.NotFound, "there is no prompt %q", name).
			WithHint("give one of %s", strings.Join(Names(), ", "))
	}
	text, _ := compiledIn(&kinds[at])
	return text, nil
}

// Warnings say which templates of the person's are not used, and why; a sentence each.
func (s *Set) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings)
}

func (s *Set) warn(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnLocked(format, args...)
}

// warnLocked enters a warning. s.mu is held.
func (s *Set) warnLocked(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.warnings = append(s.warnings, text)
	s.log.Warn("a prompt of prompts.dir is not used", "warning", text)
}

// reason says what is wrong without the name of the file again.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "template: ")
}
