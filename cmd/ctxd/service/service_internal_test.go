package service

import (
	"encoding/xml"
	"strings"
	"testing"
)

func TestServiceUnitWords(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"/usr/bin/ctxd", "/usr/bin/ctxd"},
		{"", `""`},
		{"/home/me/My Notes", `"/home/me/My Notes"`},
		{"100%", "100%%"},
		{"$HOME/x", "$$HOME/x"},
		{`a"b\c'd`, `"a\"b\\c'd"`},
		{"two\nlines", `"two\nlines"`},
		{"a;b", `"a;b"`},
		{"Zettel/Ü", "Zettel/Ü"},
	} {
		if got := unitWord(c.word); got != c.want {
			t.Errorf("%q is written %s, want %s", c.word, got, c.want)
		}
	}
	unit := systemd("/home/me/.config").content([]string{"/usr/bin/ctxd", "serve", "--vault", "/home/me/My Notes"})
	if want := "\nExecStart=/usr/bin/ctxd serve --vault \"/home/me/My Notes\"\n"; !strings.Contains(unit, want) {
		t.Errorf("no %q in\n%s", want, unit)
	}
}

func TestServiceAgent(t *testing.T) {
	m := launchd("/Users/me", 501)
	if want := "/Users/me/Library/LaunchAgents/com.github.ctxd.plist"; m.file != want {
		t.Errorf("the file is %s, want %s", m.file, want)
	}
	list := m.content([]string{"/usr/local/bin/ctxd", "serve", "--vault", "/Users/me/R&D <notes>"})
	var doc struct {
		Dict struct {
			Words []string `xml:"array>string"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal([]byte(list), &doc); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(doc.Dict.Words, "|"); got != "/usr/local/bin/ctxd|serve|--vault|/Users/me/R&D <notes>" {
		t.Errorf("the command is %s in\n%s", got, list)
	}
	if got := m.start[1].line(); got != "launchctl bootstrap gui/501 "+m.file {
		t.Errorf("it is started by %s", got)
	}
}
