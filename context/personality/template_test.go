package personality_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/context/prompt"
)

var update = flag.Bool("update", false, "write the goldens anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

const whole = `identity:
  name: Ada [Lovelace]
  role: a research assistant
  expertise: [bees, "wine & [[Cheese]]"]
  background: |
    You worked in a library.
    ## It was large.
communication:
  tone: warm
response_behavior:
  citation_style: always_cite
memory_usage:
  priority: when_relevant
formatting:
  structure: bullets
personality_traits:
  - patient
  - curious
custom_instructions: |
  ## Mine
  Answer in German when I write German. <b>Never</b> say "As an AI".
`

func parse(t *testing.T, text string) *personality.Template {
	t.Helper()
	tpl, errs, warnings := personality.ParseTemplate(text)
	if len(errs) > 0 || len(warnings) > 0 {
		t.Fatalf("%v, %v", errs, warnings)
	}
	return tpl
}

func TestMEM74_Whole(t *testing.T) {
	tpl := parse(t, whole)
	golden(t, "whole.md", tpl.Section(prompt.Markdown))
	golden(t, "whole.xml", tpl.Section(prompt.XML))
}

// TestMEM74_EveryOption renders each value of each option, alone.
func TestMEM74_EveryOption(t *testing.T) {
	var out strings.Builder
	for _, o := range personality.TemplateOptions {
		for _, v := range o.Values {
			section := "communication:\n"
			if o.Section != personality.SectionCommunication {
				section += "  tone:\n" + o.Section + ":\n"
			}
			text := "identity: {name: Ada}\n" + section + "  " + o.Name + ": " + v.Name + "\n"
			tpl, errs, _ := personality.ParseTemplate(text)
			if len(errs) > 0 {
				t.Fatalf("%s: %v", text, errs)
			}
			if tpl.Chosen[o.Section+"."+o.Name] != v.Name {
				t.Errorf("%s %s: %v", o.Name, v.Name, tpl.Chosen)
			}
			fmt.Fprintf(&out, "# %s.%s: %s\n%s\n", o.Section, o.Name, v.Name, tpl.Section(prompt.Markdown))
		}
	}
	golden(t, "options.md", out.String())
}

func TestMEM73_Presets(t *testing.T) {
	for _, name := range personality.Presets() {
		text, ok := personality.Preset(name)
		if !ok {
			t.Fatal(name)
		}
		golden(t, "preset-"+name+".md", parse(t, text).Section(prompt.Markdown))
	}
	if _, ok := personality.Preset("../options"); ok {
		t.Error("a preset of another name")
	}
}

func TestMEM72_Problems(t *testing.T) {
	valid := "identity: {name: Ada}\ncommunication: {tone: warm}\n"
	quiet := valid + "response_behavior: {prioritize: speed}\nmemory_usage: {pattern_trust: balanced}\nformatting: {emphasis: plain}\n"
	for _, c := range []struct {
		name, text     string
		errs, warnings []string // line:column path message, hint
	}{
		{"nothing", "", []string{`1:1  the template is no mapping of sections`}, nil},
		{"comments", "# only\n", []string{`1:1  the template is no mapping of sections`}, nil},
		{"a list", "- a\n- b\n", []string{`1:1  the template is no mapping of sections`}, nil},
		{"a text", "hello\n", []string{`1:1  the template is no mapping of sections`}, nil},
		{"syntax", "identity:\n  name: [a\n", []string{`2:9  the template is no YAML: sequence end token ']' not found`}, nil},
		{"tabs", "identity:\n\tname: x\n", []string{"2:1  the template is no YAML: found character '\t' that cannot start any token"}, nil},
		{"no identity", "communication: {tone: warm}\n", []string{`1:1 identity identity is missing`}, nil},
		{"no communication", "identity: {name: Ada}\n", []string{`1:1 communication communication is missing`}, nil},
		{"no name", "identity: {role: x}\ncommunication: {tone: warm}\n", []string{`1:1 identity.name identity.name is missing`}, nil},
		{"empty name", "identity: {name: ' '}\ncommunication: {tone: warm}\n", []string{`1:1 identity.name identity.name is missing`}, nil},
		{"identity is a text", "identity: Ada\ncommunication: {tone: warm}\n", []string{`1:1 identity.name identity.name is missing`, `1:11 identity identity is no mapping of options`}, nil},
		{"sections missing", valid, nil, []string{
			`1:1 response_behavior response_behavior is missing, so a model hears nothing of it`,
			`1:1 memory_usage memory_usage is missing, so a model hears nothing of it`,
			`1:1 formatting formatting is missing, so a model hears nothing of it`,
		}},
		{"unknown section", quiet + "persona: x\n", nil, []string{`6:1 persona there is no section "persona"`}},
		{"unknown option", strings.Replace(quiet, "tone: warm", "tune: warm", 1), nil, []string{`2:17 communication.tune communication has no option "tune"`}},
		{"unknown value", strings.Replace(quiet, "warm", "worm", 1), nil, []string{`2:23 communication.tone communication.tone has no value "worm"`}},
		{"twice", quiet + "identity: {name: Bo}\n", []string{`6:1  the template is no YAML: mapping key "identity" already defined at [1:1]`}, nil},
		{"a list for a value", strings.Replace(quiet, "warm", "[warm]", 1), []string{`2:23 communication.tone communication.tone is no single value`}, nil},
		{"an alias", "identity: &a {name: Ada}\ncommunication: *a\n", []string{`1:1 identity.name identity.name is missing`, `1:11 identity identity is no mapping of options`, `2:16 communication communication is no mapping of options`}, nil},
		{"two documents", quiet + "---\n" + quiet, []string{`7:9  the text has more than one document`}, nil},
		{"too long", quiet + "custom_instructions: " + strings.Repeat("x", 3990) + "\n", []string{`1:1  the template makes a section of 4307 characters`}, nil},
		{"deep", strings.Repeat("[", 10000), []string{`1:1  the template is nested too deep`}, nil},
		{"not UTF-8", "identity: \xff", []string{`1:1  the template is not UTF-8`}, nil},
		{"large", strings.Repeat("#", personality.MaxTemplateBytes+1), []string{`1:1  the template has 65537 bytes`}, nil},
	} {
		tpl, errs, warnings := personality.ParseTemplate(c.text)
		if (tpl == nil) != (len(errs) > 0) {
			t.Errorf("%s: %v beside errors %v", c.name, tpl, errs)
		}
		show := func(list []personality.TemplateProblem) (out []string) {
			for _, p := range list {
				out = append(out, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Path, p.Message))
			}
			return out
		}
		if got := show(errs); !slices.Equal(got, c.errs) {
			t.Errorf("%s: errors %q, want %q", c.name, got, c.errs)
		}
		if got := show(warnings); len(errs) == 0 && !slices.Equal(got, c.warnings) {
			t.Errorf("%s: warnings %q, want %q", c.name, got, c.warnings)
		}
	}
	_, _, warnings := personality.ParseTemplate(strings.Replace(quiet, "warm", "worm", 1))
	if len(warnings) != 1 || warnings[0].Hint != "did you mean warm? there are warm, professional, direct, enthusiastic" {
		t.Errorf("%+v", warnings)
	}
}

func FuzzMEM72_Parse(f *testing.F) {
	f.Add(whole)
	for _, name := range personality.Presets() {
		text, _ := personality.Preset(name)
		f.Add(text)
	}
	f.Add("identity: [a\n---\n- &x *x")
	f.Fuzz(func(t *testing.T, text string) {
		tpl, errs, warnings := personality.ParseTemplate(text)
		if (tpl == nil) != (len(errs) > 0) {
			t.Fatalf("%v, %v", tpl, errs)
		}
		for _, p := range slices.Concat(errs, warnings) {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || p.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+2 {
				t.Fatalf("%+v", p)
			}
		}
		if tpl == nil {
			return
		}
		for _, format := range []prompt.Format{prompt.Markdown, prompt.XML} {
			if size := prompt.Chars(tpl.Section(format)); size > personality.MaxTemplateSection {
				t.Fatalf("a section of %d characters", size)
			}
		}
	})
}
