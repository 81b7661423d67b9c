package embed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
)

var _ embed.Embedder = (*embed.Endpoint)(nil)

const canaryKey = "sk-canary-5f0e1d"

// hang is how long a test waits for what must happen.
const hang = embedtest.Hang

// serving starts a server and an embedder that asks it, which doesn't wait
// between tries.
func serving(t *testing.T, handle http.HandlerFunc, change ...func(*embed.EndpointOptions)) *embed.Endpoint {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	server := httptest.NewServer(handle)
	opts := embed.EndpointOptions{URL: server.URL, Model: "nomic-embed-text"}
	for _, c := range change {
		c(&opts)
	}
	h, err := embed.NewEndpoint(opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Hasten()
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
		goleak.VerifyNone(t, leaks)
	})
	return h
}

// asked is a request as a server reads it.
type asked struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

func read(t *testing.T, r *http.Request) (a asked) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		t.Error(err)
	}
	return a
}

// answer sends a vector for each text: of the given dimensions, its first value
// the length of the text.
func answer(w io.Writer, texts []string, dims int) {
	type item struct {
		Object    string    `json:"object"`
		Embedding []float64 `json:"embedding"`
		Index     int       `json:"index"`
	}
	var list []item
	for i, text := range texts {
		v := make([]float64, dims)
		v[0], v[1] = float64(len(text)), 1
		list = append(list, item{"embedding", v, i})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list}) // a caller that left is no fault
}

// slope is what answer sends for a text, to tell vectors apart.
func slope(v []float32) int { return int(math.Round(float64(v[0] / v[1]))) }

func golden(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "http", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSRCH23_WireFormats(t *testing.T) {
	want := [][]float32{{0.6, 0.8, 0}, {0, -1, 0.0000012}}
	for _, name := range []string{"ollama.json", "llama-server.json", "llama-server-base64.json", "lm-studio.json"} {
		t.Run(name, func(t *testing.T) {
			h := serving(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if diff := cmp.Diff(string(bytes.TrimSpace(golden(t, "request.json"))), string(body)); diff != "" || err != nil {
					t.Errorf("request: %v\n%s", err, diff)
				}
				if r.Method != http.MethodPost || r.URL.String() != "/v1/embeddings" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer "+canaryKey {
					t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
				}
				_, _ = w.Write(golden(t, name))
			}, func(o *embed.EndpointOptions) { o.Key = canaryKey })
			if s := h.Status(); s.State != embed.Idle || s.Kind != "http" || s.Remote || s.Model != nil {
				t.Errorf("before the first request: %+v", s)
			}
			m, got, err := h.Embed(t.Context(), embed.Passage, []string{"the first <text>", "the \"second\"\nof them"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Error(diff)
			}
			if m.Name != "nomic-embed-text" || m.Dims != 3 || len(m.SHA256) != 64 {
				t.Errorf("%+v", m)
			}
			if s := h.Status(); s.State != embed.Ready || s.Model == nil || *s.Model != m {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestSRCH23_BatchesOrderAndEmptyTexts(t *testing.T) {
	var sizes []int
	h := serving(t, func(w http.ResponseWriter, r *http.Request) {
		texts := read(t, r).Input
		sizes = append(sizes, len(texts))
		var b bytes.Buffer
		answer(&b, texts, 4)
		var all map[string]any
		if err := json.Unmarshal(b.Bytes(), &all); err != nil {
			t.Error(err)
		}
		data := all["data"].([]any)
		for i, j := 0, len(data)-1; i < j; i, j = i+1, j-1 { // an endpoint may send them in any order
			data[i], data[j] = data[j], data[i]
		}
		_ = json.NewEncoder(w).Encode(all)
	})
	texts := make([]string, 70)
	for i := range texts {
		texts[i] = strings.Repeat("x", i)
	}
	texts[3] = " \n\t"
	_, got, err := h.Embed(t.Context(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{32, 32, 4}, sizes); diff != "" {
		t.Error(diff)
	}
	for i, v := range got {
		if empty := i == 0 || i == 3; empty != (v == nil) || !empty && slope(v) != i {
			t.Errorf("text %d: %v", i, v)
		}
	}
	m, none, err := h.Embed(t.Context(), embed.Query, []string{"", " "})
	if err != nil || m.Dims != 4 || len(none) != 2 || none[0] != nil || none[1] != nil {
		t.Errorf("%v %v %v", m, none, err)
	}
}

// What an endpoint sends is refused with the kind that tells the caller whether
// to try again, and without a word of what was sent either way.
func TestSRCH23_WrongReplies(t *testing.T) {
	const secret = "the canary text of a note"
	item := func(embedding string, index any) string {
		return fmt.Sprintf(`{"embedding":%s,"index":%v,"object":"%s"}`, embedding, index, secret)
	}
	list := func(items ...string) string { return `{"data":[` + strings.Join(items, ",") + `]}` }
	for name, c := range map[string]struct {
		body string
		want string
	}{
		"too many":           {list(item("[1]", 0), item("[1]", 1), item("[1]", 2)), "sent 3 vectors for 2 texts"},
		"none":               {`{"object":"","data":null}`, "sent 0 vectors for 2 texts"},
		"twice":              {list(item("[1,0]", 1), item("[1,0]", 1)), "can't be told apart"},
		"out of range":       {list(item("[1,0]", 0), item("[1,0]", 2)), "can't be told apart"},
		"negative":           {list(item("[1,0]", -1), item("[1,0]", 0)), "can't be told apart"},
		"one without index":  {list(item("[1,0]", 0), item("[1,0]", "null")), "can't be told apart"},
		"dims":               {list(item("[1,0]", 0), item("[1,0,0]", 1)), "of 2 and 3 dimensions"},
		"no dims":            {list(item("[]", 0), item("[]", 1)), "of 0 and 0 dimensions"},
		"nested":             {list(item("[[1,0]]", 0), item("[[1,0]]", 1)), "something else than vectors"},
		"text":               {list(item(`["a"]`, 0), item("[1]", 1)), "something else than vectors"},
		"object":             {list(item(`{"a":1}`, 0), item("[1]", 1)), "something else than vectors"},
		"odd base64":         {list(item(`"AAAA"`, 0), item(`"AAAA"`, 1)), "something else than vectors"},
		"no base64":          {list(item(`"%%"`, 0), item(`"AA"`, 1)), "something else than vectors"},
		"too many dims":      {list(item("["+strings.Repeat("1,", 5000)+"1]", 0), item("[1]", 1)), "something else than vectors"},
		"null is NaN":        {list(item("[1,null]", 0), item("[1,0]", 1)), "is no number"},
		"beyond float32":     {list(item("[1,1e39]", 0), item("[1,0]", 1)), "is no number"},
		"NaN in base64":      {list(item(`"AADAfwAAgD8="`, 0), item(`"AACAPwAAAAA="`, 1)), "without a direction"},
		"Inf in base64":      {list(item(`"AACAfwAAgD8="`, 0), item(`"AACAPwAAAAA="`, 1)), "without a direction"},
		"zero":               {list(item("[0,0]", 0), item("[1,0]", 1)), "without a direction"},
		"no JSON":            {"<html>" + secret, "can't be read"},
		"cut JSON":           {`{"data":[{"embedding":[1,0],"ind`, "can't be read"},
		"an array":           {"[]", "can't be read"},
		"index of a text":    {list(item("[1,0]", `"0"`), item("[1,0]", 1)), "can't be read"},
		"deep":               {strings.Repeat("[", 100_000), "can't be read"},
		"NaN, which no JSON": {list(item("[NaN]", 0), item("[1]", 1)), "is no number"},
		"huge":               {`{"data":[` + strings.Repeat(" ", 17<<20) + `]}`, "more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			h := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			_, got, err := h.Embed(t.Context(), embed.Passage, []string{secret, "b"})
			if fault.KindOf(err) != fault.Unavailable || got != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v %v, want unavailable: %s", got, err, c.want)
			}
			if s := h.Status(); s.State != embed.Failed || strings.Contains(s.Why+err.Error(), "canary") {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

// TestSRCH23_OneTextWithoutAVector: where a server has no vector for one text, in whatever form, that text is refused and no
// other; it is asked for others to tell.
func TestSRCH23_OneTextWithoutAVector(t *testing.T) {
	at := func(vector string) string { return `{"index":AT,"embedding":` + vector + `}` }
	for name, bad := range map[string]string{ // the item of that text, or behind = the whole reply
		"null": at("null"), "empty": at("[]"), "nulls": at("[null,null]"), "NaN": at("[NaN,NaN]"), "-Infinity": at("[0.5,-Infinity]"), "zero": at("[0,0]"),
		"another size": at("[1,2,3]"), "a text": at(`"x"`), "base64 of NaN": at(`"AADAfwAAgD8="`), "an object": at(`{"values":[1,0]}`), "a member is missing": `{"index":AT}`,
		"left out": "", "twice": at("[1,0]") + `,{"index":0,"embedding":[1,0]}`, "more than asked": at("[1,0]") + `,{"index":9,"embedding":[1,0]}`,
		"more, and none says for what": at("[1,0]") + `,{"embedding":[1,0]}`, "beyond the last": `{"index":9,"embedding":[1,0]}`, "before the first": `{"index":-1,"embedding":[1,0]}`,
		"an index that is a text": `{"index":"AT","embedding":[1,0]}`, "an index that is a fraction": `{"index":0.5,"embedding":[1,0]}`,
		"no object": "7", "null for all": "=null", "no list": `={"data":{"embedding":[1,0]}}`, "an error": `={"error":{"message":"canary"}}`, "a page": "=<html>canary", "cut off": `={"data":[{"ind`, "nothing": "=",
	} {
		h := serving(t, func(w http.ResponseWriter, r *http.Request) {
			var items []string
			for i, text := range read(t, r).Input {
				item := at("[0.6,0.8]")
				if text == "poison" {
					item = bad
				}
				if whole, is := strings.CutPrefix(item, "="); is {
					_, _ = io.WriteString(w, whole)
					return
				}
				if item != "" {
					items = append(items, strings.ReplaceAll(item, "AT", strconv.Itoa(i)))
				}
			}
			_, _ = io.WriteString(w, `{"data":[`+strings.Join(items, ",")+`]}`)
		})
		if _, got, err := h.Embed(t.Context(), embed.Passage, []string{"a", "b"}); err != nil || len(got) != 2 {
			t.Errorf("%s: others: %v", name, err)
		}
		for _, texts := range [][]string{{"poison"}, {"a", "poison"}} {
			_, got, err := h.Embed(t.Context(), embed.Passage, texts)
			if fault.KindOf(err) != fault.Invalid || got != nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %q: %v %v", name, texts, got, err)
			}
		}
		if s := h.Status(); s.State != embed.Ready {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// An endpoint that takes other texts has refused these, which is not worth
// another try; one that takes none is away.
func TestSRCH23_RefusedTextsAreToldFromAnEndpointThatIsAway(t *testing.T) {
	const llama = `{"error":{"code":500,"message":"input is too large to process. increase the physical batch size","type":"server_error"}}`
	const ollama = `{"error":{"message":"the input length exceeds the context length: %s","type":"api_error","param":null,"code":null}}`
	for name, c := range map[string]struct {
		status int
		body   string
		tries  int32 // with the text, before the harmless one
	}{
		"llama-server":  {500, llama, 1},
		"Ollama":        {400, ollama, 1},
		"LM Studio":     {422, `{"error":"bad input"}`, 1},
		"any 500":       {500, "oops", 4},
		"a zero vector": {200, `{"data":[{"index":0,"embedding":[0,0,0]}]}`, 1},
		"NaN as null":   {200, `{"data":[{"index":0,"embedding":[null,0,0]}]}`, 1},
	} {
		for _, away := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s away=%t", name, away), func(t *testing.T) {
				var bad, probes atomic.Int32
				h := serving(t, func(w http.ResponseWriter, r *http.Request) {
					texts := read(t, r).Input
					if texts[0] == "ctxd" {
						probes.Add(1)
					} else {
						bad.Add(1)
					}
					if texts[0] == "ctxd" && !away {
						answer(w, texts, 3)
						return
					}
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				})
				_, _, err := h.Embed(t.Context(), embed.Passage, []string{"canary"})
				want := map[bool]fault.Kind{false: fault.Invalid, true: fault.Unavailable}[away]
				if fault.KindOf(err) != want || strings.Contains(err.Error(), "canary") {
					t.Errorf("%v, want %v", err, want)
				}
				if bad.Load() != c.tries || probes.Load() != 1 {
					t.Errorf("%d tries and %d probes, want %d and 1", bad.Load(), probes.Load(), c.tries)
				}
			})
		}
	}
}

func TestSRCH23_Retries(t *testing.T) {
	fail := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "86400") // bounded
			http.Error(w, "canary", status)
		}
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"data":[`)
	}
	drop := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		ill   http.HandlerFunc
		p     embed.Purpose
		times int32 // that it is ill
		tries int32
		kind  fault.Kind // Internal for none
	}{
		"429":                  {fail(429), embed.Passage, 2, 3, fault.Internal},
		"503":                  {fail(503), embed.Passage, 3, 4, fault.Internal},
		"503 without end":      {fail(503), embed.Passage, 9, 4, fault.Unavailable},
		"502 for a query":      {fail(502), embed.Query, 1, 2, fault.Internal},
		"504 for a query, on":  {fail(504), embed.Query, 9, 2, fault.Unavailable},
		"a cut reply":          {cut, embed.Passage, 1, 2, fault.Internal},
		"a dropped connection": {drop, embed.Passage, 3, 4, fault.Internal},
		"401":                  {fail(401), embed.Passage, 9, 1, fault.Unavailable},
		"404":                  {fail(404), embed.Passage, 9, 1, fault.Unavailable},
		"501":                  {fail(501), embed.Passage, 9, 1, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			h := serving(t, func(w http.ResponseWriter, r *http.Request) {
				if tries.Add(1) <= c.times {
					c.ill(w, r)
					return
				}
				answer(w, read(t, r).Input, 3)
			})
			_, _, err := h.Embed(t.Context(), c.p, []string{"a"})
			if kind := fault.KindOf(err); (err == nil) != (c.kind == fault.Internal) || err != nil && kind != c.kind || tries.Load() != c.tries {
				t.Errorf("%v after %d tries, want %v after %d", err, tries.Load(), c.kind, c.tries)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || explainedBy(err) == "") {
				t.Errorf("%v, hint %q", err, explainedBy(err))
			}
		})
	}
}

func explainedBy(err error) string {
	var f *fault.Error
	errors.As(err, &f)
	return f.Hint
}

func TestSRCH23_RetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "4000000000": 10 * time.Second,
		now.Add(3 * time.Second).Format(http.TimeFormat): 3 * time.Second, now.Add(time.Hour).Format(http.TimeFormat): 10 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat): 0, "": -1, "-3": -1, "soon": -1, "1.5": -1, "99999999999": -1,
	} {
		got, ok := embed.RetryAfter(text, now, 10*time.Second)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v %t, want %v", text, got, ok, want)
		}
	}
}

func TestSEC4_RedirectsAreNotFollowed(t *testing.T) {
	var reached atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		h := serving(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/"+canaryKey, status)
		}, func(o *embed.EndpointOptions) { o.Key = canaryKey })
		_, _, err := h.Embed(t.Context(), embed.Query, []string{"a"})
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error(), canaryKey) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if reached.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

func TestSEC4_OnlyThisMachineUnlessRemoteIsAllowed(t *testing.T) {
	for url, c := range map[string]struct{ local, allowed string }{ // what is wrong, "remote" for nothing but that
		"http://127.0.0.1:11434":      {"", ""},
		"http://127.9.9.9/v1/":        {"", ""},
		"https://[::1]:8080":          {"", ""},
		"http://[::ffff:127.0.0.1]":   {"", ""},
		"HTTP://LOCALHOST:1234/v1":    {"", ""},
		"http://models.localhost":     {"", ""},
		"http://192.168.1.7:11434":    {"not this machine", "remote"},
		"http://0.0.0.0:11434":        {"not this machine", "remote"},
		"http://[fe80::1]:11434":      {"not this machine", "remote"},
		"https://[2001:db8::1]":       {"not this machine", "remote"},
		"https://api.example.com/v1":  {"", "remote"}, // where it leads is seen when it is dialled
		"ftp://127.0.0.1":             {"no URL", "no URL"},
		"127.0.0.1:11434":             {"no URL", "no URL"},
		"http://":                     {"no URL", "no URL"},
		"":                            {"needs a URL", "needs a URL"},
		"http://u:canary@127.0.0.1":   {"no user", "no user"},
		"http://127.0.0.1/?k=canary":  {"no user", "no user"},
		"http://127.0.0.1/#canary":    {"no user", "no user"},
		"http://127.0.0.1:canary/%zz": {"no URL", "no URL"},
	} {
		for _, allow := range []bool{false, true} {
			want := map[bool]string{false: c.local, true: c.allowed}[allow]
			h, err := embed.NewEndpoint(embed.EndpointOptions{URL: url, Model: "m", AllowRemote: allow})
			switch {
			case want != "" && want != "remote":
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Field != "url" || f.Hint == "" || !strings.Contains(f.Msg, want) || strings.Contains(f.Error()+f.Hint, "canary") {
					t.Errorf("%q, remote %t: %v, want %s", url, allow, err, want)
				}
			case err != nil:
				t.Errorf("%q, remote %t: %v", url, allow, err)
			case h.Status().Remote != (want == "remote"):
				t.Errorf("%q, remote %t: %+v", url, allow, h.Status())
			}
		}
	}
}

// nameServer answers every question for an IPv4 address with the one that is
// set.
func nameServer(t *testing.T) (*net.Resolver, func(addr [4]byte)) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var addr atomic.Value
	over := make(chan struct{})
	go func() {
		defer close(over)
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if err := m.Unpack(buf[:n]); err != nil {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
					Body:   &dnsmessage.AResource{A: addr.Load().([4]byte)},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-over
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}
	return &net.Resolver{PreferGo: true, Dial: dial}, func(a [4]byte) { addr.Store(a) }
}

// A name may lead here today and elsewhere tomorrow: where it leads is seen each
// time it is dialled. 192.0.2.1 is an address of nobody; it is refused before a
// packet is sent.
func TestSEC4_WhereANameLeadsIsSeenWhenItIsDialled(t *testing.T) {
	names, lead := nameServer(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // so that each request is dialled
		answer(w, read(t, r).Input, 3)
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	h, err := embed.NewEndpoint(embed.EndpointOptions{URL: "http://models.example.com:" + port, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Hasten()
	h.ResolveBy(names)
	for _, c := range []struct {
		addr [4]byte
		fine bool
	}{{[4]byte{127, 0, 0, 1}, true}, {[4]byte{192, 0, 2, 1}, false}, {[4]byte{0, 0, 0, 0}, false}, {[4]byte{127, 0, 0, 1}, true}} {
		lead(c.addr)
		_, _, err := h.Embed(t.Context(), embed.Query, []string{"a"})
		if c.fine != (err == nil) || !c.fine && (fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "is not this machine")) {
			t.Errorf("%v: %v", c.addr, err)
		}
	}
	if h.Status().Remote {
		t.Error("an endpoint that is never dialled elsewhere counts as remote")
	}
}

// What stays on this machine is asked without the proxy of the environment.
func TestSEC4_NoProxyForThisMachine(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	names, lead := nameServer(t)
	lead([4]byte{127, 0, 0, 1})
	h := serving(t, func(w http.ResponseWriter, r *http.Request) { answer(w, read(t, r).Input, 3) }, func(o *embed.EndpointOptions) {
		o.URL = strings.Replace(o.URL, "127.0.0.1", "models.example.com", 1) // a proxy is never asked for a plain loopback address
	})
	h.ResolveBy(names)
	if _, _, err := h.Embed(t.Context(), embed.Query, []string{"a"}); err != nil || asked.Load() > 0 {
		t.Errorf("%v, the proxy was asked %d times", err, asked.Load())
	}
}

func TestSEC4_KeysStaySecret(t *testing.T) {
	for key, url := range map[string]string{
		canaryKey:            "http://192.168.1.7:11434", // in the open
		canaryKey + "\r\nX:": "https://api.example.com",
		canaryKey + "é":      "https://api.example.com",
	} {
		err := (&embed.EndpointOptions{URL: url, Model: "m", Key: key, AllowRemote: true}).Check()
		if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := (&embed.EndpointOptions{URL: "https://api.example.com", Model: "m", Key: canaryKey, AllowRemote: true}).Check(); err != nil {
		t.Error(err)
	}
	var logged bytes.Buffer
	h := serving(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "wrong key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}, func(o *embed.EndpointOptions) {
		o.Key = canaryKey
		o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for range 5 {
		_, _, err := h.Embed(t.Context(), embed.Query, []string{"canary text"})
		if said := fmt.Sprintf("%v %+v %s %+v", err, err, explainedBy(err), h.Status()); strings.Contains(said, "canary") {
			t.Error(said)
		}
	}
	if strings.Contains(logged.String(), "canary") || !strings.Contains(logged.String(), "breaker=open") {
		t.Errorf("log: %s", logged.String())
	}
}

func TestSRCH23_IdentityOfTheModel(t *testing.T) {
	var dims atomic.Int32
	dims.Store(3)
	var host atomic.Value
	h := serving(t, func(w http.ResponseWriter, r *http.Request) {
		host.Store(r.Host)
		answer(w, read(t, r).Input, int(dims.Load()))
	})
	first, err := h.Model(t.Context())
	if err != nil || first.Dims != 3 {
		t.Fatal(first, err)
	}
	if same, err := h.Model(t.Context()); err != nil || same != first {
		t.Errorf("%v %v", same, err)
	}
	for _, o := range []embed.EndpointOptions{{URL: "http://" + host.Load().(string) + "/v2", Model: first.Name}, {URL: "http://" + host.Load().(string), Model: "other"}} {
		other, err := embed.NewEndpoint(o)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := other.Model(t.Context()); err != nil || m.SHA256 == first.SHA256 {
			t.Errorf("%+v is the same model: %v %v", o, m, err)
		}
		_ = other.Close()
	}
	dims.Store(5)
	now, _, err := h.Embed(t.Context(), embed.Passage, []string{"a"})
	if err != nil || now.Dims != 5 || now.SHA256 == first.SHA256 {
		t.Errorf("%v %v", now, err)
	}
	if m := h.Status().Model; m == nil || *m != now {
		t.Errorf("%+v", h.Status())
	}
}

// A change within one call would mix vectors of two models.
func TestSRCH23_AModelThatChangesWithinACall(t *testing.T) {
	var calls atomic.Int32
	h := serving(t, func(w http.ResponseWriter, r *http.Request) { answer(w, read(t, r).Input, 2+int(calls.Add(1))) })
	texts := strings.Split(strings.Repeat("x ", 40), " ")
	if _, got, err := h.Embed(t.Context(), embed.Passage, texts); fault.KindOf(err) != fault.Unavailable || got != nil {
		t.Error(got, err)
	}
}

// An endpoint that keeps failing is left alone for a while, and tried again after it: by texts that nobody waits for,
// or beside a question, which does without it.
func TestMEM81_AnEndpointThatFailsIsLeftAlone(t *testing.T) {
	var calls atomic.Int32
	var ill atomic.Bool
	ill.Store(true)
	h := serving(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if ill.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer(w, read(t, r).Input, 3)
	})
	h.Rest(time.Hour)
	for range 10 {
		if _, _, err := h.Embed(t.Context(), embed.Query, []string{"a"}); fault.KindOf(err) != fault.Unavailable {
			t.Fatal(err)
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d requests to an endpoint that failed three times in a row", calls.Load())
	}
	h.Rest(time.Nanosecond)
	for range 3 {
		_, _, _ = h.Embed(t.Context(), embed.Query, []string{"a"})
	}
	ill.Store(false)
	if _, _, err := h.Embed(t.Context(), embed.Query, []string{"a"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a question waited for the try: %v", err)
	}
	for h.Status().State != embed.Ready { // the try beside it
		runtime.Gosched()
	}
	if _, err := h.Model(t.Context()); err != nil {
		t.Errorf("%v, %+v", err, h.Status())
	}
	ill.Store(true)
	for range 3 {
		_, _, _ = h.Embed(t.Context(), embed.Query, []string{"a"})
	}
	ill.Store(false)
	if _, _, err := h.Embed(t.Context(), embed.Passage, []string{"a"}); err != nil {
		t.Errorf("texts that nobody waits for are the try: %v", err)
	}
}

func TestSRCH23_SlowEndpoint(t *testing.T) {
	over := make(chan struct{})
	h := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // the head is there, the body is not
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}, func(o *embed.EndpointOptions) { o.Timeout = 50 * time.Millisecond })
	defer close(over)
	for _, p := range []embed.Purpose{embed.Query, embed.Passage} {
		if _, _, err := h.Embed(t.Context(), p, []string{"a"}); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no answer within 50ms") {
			t.Error(err)
		}
	}
}

// A question that is given up answers at once. It goes on to its end, so that
// what an endpoint loads for it stays, but only one at a time.
func TestREL8_AQuestionThatIsGivenUp(t *testing.T) {
	arrived, proceed, gone := make(chan struct{}, 9), make(chan struct{}), make(chan struct{}, 9)
	h := serving(t, func(w http.ResponseWriter, r *http.Request) {
		texts := read(t, r).Input
		arrived <- struct{}{}
		select {
		case <-proceed:
			answer(w, texts, 3)
		case <-r.Context().Done():
			gone <- struct{}{}
		}
	})
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, _, err := h.Embed(ctx, embed.Query, []string{"a"})
			result <- err
		}()
		await(t, arrived, "the request")
		cancel()
		if err := await(t, result, "the answer"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	await(t, gone, "the end of the second request")
	close(proceed)
	embedtest.Eventually(t, "the first one to end well", func() bool { return h.Status().State == embed.Ready })
	if len(gone) > 0 {
		t.Error("the first request was withdrawn, too")
	}
}

func await[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(hang):
		t.Fatalf("%s does not come", what)
	}
	return v
}

func TestREL8_WithdrawnPassages(t *testing.T) {
	arrived := make(chan struct{}, 1)
	h := serving(t, func(_ http.ResponseWriter, r *http.Request) {
		_ = read(t, r)
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, _, err := h.Embed(ctx, embed.Passage, []string{"a"})
		result <- err
	}()
	await(t, arrived, "the request")
	if s := h.Status(); s.State != embed.Starting {
		t.Errorf("during the first request: %+v", s)
	}
	cancel()
	if err := await(t, result, "the answer"); !errors.Is(err, context.Canceled) || h.Status().State != embed.Idle {
		t.Errorf("%v, %+v", err, h.Status())
	}
}

// Questions go past the passage that is under way, and before those that wait,
// which wait until no question is under way.
func TestSRCH23_QuestionsBeforePassages(t *testing.T) {
	holds := map[string]chan struct{}{"first": make(chan struct{}), "question": make(chan struct{})}
	began, ended := make(chan string, 100), make(chan string, 100)
	var asking atomic.Bool
	h := serving(t, func(w http.ResponseWriter, r *http.Request) {
		texts := read(t, r).Input
		if texts[0] == "later" && asking.Load() {
			t.Error("a passage began while a question was under way")
		}
		asking.Store(asking.Load() || texts[0] == "question")
		began <- texts[0]
		if hold := holds[texts[0]]; hold != nil {
			<-hold
		}
		asking.Store(asking.Load() && texts[0] != "question")
		answer(w, texts, 3)
	})
	var all sync.WaitGroup
	ask := func(p embed.Purpose, text string) {
		all.Go(func() {
			if _, _, err := h.Embed(t.Context(), p, []string{text}); err != nil {
				t.Error(err)
			}
			ended <- text
		})
	}
	ask(embed.Passage, "first")
	await(t, began, "the first passage")
	for range 5 {
		ask(embed.Passage, "later")
	}
	ask(embed.Query, "question")
	if got := await(t, began, "the question"); got != "question" {
		t.Errorf("%s went before the question", got)
	}
	close(holds["first"])
	await(t, ended, "the end of the first passage")
	for range 10 { // meanwhile a passage could begin
		ask(embed.Query, "another")
		await(t, ended, "the answer to another question")
	}
	close(holds["question"])
	all.Wait()
}

func TestSRCH23_CloseEndsTheCallsThatWait(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, leaks)
	arrived := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = read(t, r)
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	h, err := embed.NewEndpoint(embed.EndpointOptions{URL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 20)
	for i := range 20 {
		go func() {
			_, _, err := h.Embed(context.Background(), embed.Purpose(i%2), []string{"a"})
			results <- err
		}()
	}
	await(t, arrived, "a request")
	if err := errors.Join(h.Close(), h.Close()); err != nil {
		t.Error(err)
	}
	for range 20 {
		if err := await(t, results, "an answer"); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
	}
	if _, err := h.Model(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

// Many callers at once get their own vectors.
func TestSRCH23_ConcurrentCalls(t *testing.T) {
	h := serving(t, func(w http.ResponseWriter, r *http.Request) { answer(w, read(t, r).Input, 3) })
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			text := strings.Repeat("x", n+1)
			_, got, err := h.Embed(t.Context(), embed.Purpose(n%2), []string{text, text + "y"})
			if err != nil || slope(got[0]) != n+1 || slope(got[1]) != n+2 {
				t.Errorf("%d: %v %v", n, got, err)
			}
			_ = h.Status()
		})
	}
	all.Wait()
}

func TestSRCH23_NobodyListens(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	h, err := embed.NewEndpoint(embed.EndpointOptions{URL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Hasten()
	if _, err := h.Model(t.Context()); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "takes no connection") || explainedBy(err) == "" {
		t.Error(err)
	}
}

func FuzzHTTPReply(f *testing.F) {
	for _, name := range []string{"ollama.json", "llama-server-base64.json", "lm-studio.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", "http", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"data":[{"embedding":[1,null,,]},{"embedding":"AA=="}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, v := range embed.DecodeReply(text, 2) {
			var squares float64
			for _, x := range v {
				squares += float64(x) * float64(x)
			}
			if !(math.Abs(squares-1) < 1e-4) {
				t.Errorf("a vector of length %v", math.Sqrt(squares))
			}
		}
	})
}

// TestCHAT47_AnEmbedderAndARerankerOnASocket are asked there, and are of this machine though texts may leave it.
func TestCHAT47_AnEmbedderAndARerankerOnASocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "e.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/v1/rerank") {
			_, _ = io.WriteString(w, `{"results":[{"index":0,"relevance_score":1}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,0]}]}`)
	})}}
	server.Start()
	defer server.Close()
	opts := embed.EndpointOptions{URL: "unix://" + filepath.ToSlash(socket), Model: "m", AllowRemote: true}
	h, err := embed.NewEndpoint(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if _, vectors, err := h.Embed(t.Context(), embed.Query, []string{"bees"}); err != nil || len(vectors) != 1 || h.Status().Remote {
		t.Errorf("%v %+v %v", vectors, h.Status(), err)
	}
	opts.AllowRemote = false // allowed, a reranker is remote wherever it is
	r, err := embed.NewRerankEndpoint(embed.RerankEndpointOptions{EndpointOptions: opts, Scores: embed.Logits})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if scores, err := r.Rerank(t.Context(), "bees", []string{"honey"}); err != nil || len(scores) != 1 || r.Status().Remote {
		t.Errorf("%v %+v %v", scores, r.Status(), err)
	}
}
