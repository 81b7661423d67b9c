package pagetest

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Hostile are texts that would be markup, code or control characters where a page does not
// write them as text, and some that are only long or unusual.
var Hostile = []string{
	"</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "' onmouseover='alert(1)", "javascript:alert(1)",
	"</style><style>*{display:none}", "{{.}} {{template \"x\"}}", "<!-- -->", "</pre></article></section></main>", "&lt;b&gt; &amp;",
	"<a href=https://example.org>x</a>", "\u202egnp.exe", "\x00\x07\x1b]0;pwned\x07", "日本語 👩‍👩‍👧", "<svg onload=alert(1)>",
	strings.Repeat("long ", 200), "plain",
}

// Harmless fails the test where a page without scripts has other elements than those of known
// (names, separated by blanks), attributes that run or load something, two equal ids, links
// that lead out of it, or a policy that allows more than its one style. It returns how often
// there is each element.
func Harmless(t *testing.T, text, known string) (count map[string]int) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	elements := strings.Fields(known)
	count = make(map[string]int)
	policy, style, ids, links := "", "", make(map[string]bool), []string{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if count[n.Data]++; !slices.Contains(elements, n.Data) {
			t.Fatalf("an element %q", n.Data)
		}
		if n.Data == "style" {
			style = n.FirstChild.Data
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), slices.Contains([]string{"style", "src", "action", "srcdoc"}, a.Key):
				t.Errorf("an attribute %s of %s", a.Key, n.Data)
			case a.Key == "href":
				links = append(links, a.Val)
			case a.Key == "id":
				if ids[a.Val] {
					t.Errorf("two elements are called %s", a.Val)
				}
				ids[a.Val] = true
			case a.Key == "content" && strings.Contains(a.Val, "default-src"):
				policy = a.Val
			}
		}
	}
	for _, link := range links {
		if !strings.HasPrefix(link, "#") || !ids[link[1:]] {
			t.Errorf("a link to %q", link)
		}
	}
	if count["style"] != 1 || !strings.Contains(policy, "style-src '"+hash(style)+"'") || strings.Contains(policy, "unsafe") {
		t.Errorf("%d styles, policy %s", count["style"], policy)
	}
	if strings.ContainsAny(text, "\u202e\x00\x07\x1b") {
		t.Error("the page has characters that steer")
	}
	return count
}

// hash is how a policy names a style: CSP level 3, section 2.3.1.
func hash(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
