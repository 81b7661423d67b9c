package llm_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

// Pieces of streams, by kind.
var (
	hello = map[llm.Kind]string{
		llm.Anthropic: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hel\"}}\n\n",
		llm.OpenAI:    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"},\"finish_reason\":null}]}\n\n",
	}
	goodbye = map[llm.Kind]string{
		llm.Anthropic: "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		llm.OpenAI:    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
	}
	overloaded = map[llm.Kind]string{
		llm.Anthropic: "event: error\ndata: {\"type\": \"error\", \"error\": {\"type\": \"overloaded_error\", \"message\": \"Overloaded " + canaryKey + "\"}}\n\n",
		llm.OpenAI:    "data: {\"error\":{\"code\":503,\"message\":\"busy " + canaryKey + "\",\"type\":\"unavailable_error\"}}\n\n",
	}
)

const stream = "text/event-stream"

// TestCHAT24_Faults plays servers that fail in every way. Each row holds for both kinds; the server is asked as
// often as it says.
func TestCHAT24_Faults(t *testing.T) {
	type server func(w http.ResponseWriter, r *http.Request, k llm.Kind)
	status := func(code int, body string) server {
		return func(w http.ResponseWriter, _ *http.Request, _ llm.Kind) { w.WriteHeader(code); send(w, body) }
	}
	events := func(parts ...string) server {
		return func(w http.ResponseWriter, _ *http.Request, k llm.Kind) {
			w.Header().Set("Content-Type", stream)
			for _, p := range parts {
				send(w, strings.NewReplacer("HELLO", hello[k], "GOODBYE", goodbye[k], "OVERLOADED", overloaded[k]).Replace(p))
			}
		}
	}
	kilobytes := strings.Repeat("x", 1<<10)
	for _, c := range []struct {
		name   string
		play   server
		asked  int
		text   string
		finish llm.Finish
		kind   fault.Kind // of the error; with want "" there is none
		want   string     // in the error and its hint
		again  bool       // the error says that another try may help
	}{
		{"whole", events("HELLOGOODBYE"), 1, "Hel", llm.Stop, 0, "", false},
		{"a content type that lies", func(w http.ResponseWriter, r *http.Request, k llm.Kind) {
			w.Header().Set("Content-Type", "image/png")
			send(w, hello[k], goodbye[k])
		}, 1, "Hel", llm.Stop, 0, "", false},
		{"comments alone before", events(": wait\n\n", ":\n\n", "HELLOGOODBYE"), 1, "Hel", llm.Stop, 0, "", false},
		{"something after the end", events("HELLOGOODBYE", "data: {\"more\n\n"), 1, "Hel", llm.Stop, 0, "", false},
		{"broken off before the first delta", events(": wait\n\n"), 3, "", llm.Interrupted, fault.Unavailable, "broke off", true},
		{"broken off", events("HELLO"), 1, "Hel", llm.Interrupted, fault.Unavailable, "broke off", true},
		{"broken off within a line", events("HELLO", "data: {\"choices\":[{\"del"), 1, "Hel", llm.Interrupted, fault.Unavailable, "can't be read", false},
		{"broken off within a character", events("HELLO", "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\xc3\"},\"choices\":[{\"delta\":{\"content\":\"\xc3\"}}]}\n\n"), 1, "Hel\uFFFD", llm.Interrupted, fault.Unavailable, "broke off", true},
		{"characters in halves", events("HELLO", "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\xf0\x9f\"},\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\"}}]}\n\n",
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\x98\x80!\"},\"choices\":[{\"delta\":{\"content\":\"\x98\x80!\"}}]}\n\n", "GOODBYE"), 1, "Hel😀!", llm.Stop, 0, "", false},
		{"a connection that is cut", func(w http.ResponseWriter, _ *http.Request, k llm.Kind) {
			w.Header().Set("Content-Length", "100000")
			send(w, hello[k])
			panic(http.ErrAbortHandler)
		}, 1, "Hel", llm.Interrupted, fault.Unavailable, "broke the connection", true},
		{"a connection that is cut before the first byte", func(http.ResponseWriter, *http.Request, llm.Kind) { panic(http.ErrAbortHandler) }, 3, "", llm.Interrupted, fault.Unavailable, "broke the connection", true},
		{"nothing", status(200, ""), 3, "", llm.Interrupted, fault.Unavailable, "sent nothing", true},
		{"JSON that is none", events("HELLO", "data: {\"choices\": [}\n\n", "GOODBYE"), 1, "Hel", llm.Interrupted, fault.Unavailable, "can't be read", false},
		{"values of other types", events("HELLO", "data: {\"type\":\"content_block_delta\",\"delta\":7,\"choices\":\"x\"}\n\n", "GOODBYE"), 1, "Hel", llm.Interrupted, fault.Unavailable, "can't be read", false},
		{"a text that is none", events("HELLO", "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":7},\"choices\":[{\"delta\":{\"content\":7}}]}\n\n"), 1, "Hel", llm.Interrupted, fault.Unavailable, "can't be read", false},
		{"another protocol", events("data: hello\n\n"), 1, "", llm.Interrupted, fault.Unavailable, "can't be read", false},
		{"a page", status(200, "\n <html>log in</html>"), 1, "", llm.Interrupted, fault.Unavailable, "chat.providers.test.base", false},
		{"an error in 200", status(200, `{"error":{"message":"`+canaryKey+`"}}`), 1, "", llm.Interrupted, fault.Unavailable, "reported an error", false},
		{"an error in 200, in words", status(200, `{"error":"model `+canaryKey+` not found"}`), 1, "", llm.Interrupted, fault.Unavailable, "reported an error", false},
		{"an error after the first delta", events("HELLO", "OVERLOADED"), 1, "Hel", llm.Interrupted, fault.Unavailable, "reported an error", true},
		{"overloaded before the first delta", events("OVERLOADED"), 3, "", llm.Interrupted, fault.Unavailable, "reported an error", true},
		{"too long, in a stream", events(`data: {"error":{"type":"exceed_context_size_error","code":400}}` + "\n\n"), 1, "", llm.Interrupted, fault.Limit, "shorten", false},
		{"too long", status(400, `{"error":{"code":"context_length_exceeded"}}`), 1, "", llm.Interrupted, fault.Limit, "shorten", false},
		{"a wrong request", status(400, canaryKey), 1, "", llm.Interrupted, fault.Unavailable, "status 400", false},
		{"no key", status(401, canaryKey), 1, "", llm.Interrupted, fault.Unavailable, "chat.providers.test.key", false},
		{"a key that may not", status(403, canaryKey), 1, "", llm.Interrupted, fault.Unavailable, "chat.providers.test.key", false},
		{"no such model", status(404, canaryKey), 1, "", llm.Interrupted, fault.Unavailable, "chat.providers.test.base", false},
		{"409", status(409, canaryKey), 1, "", llm.Interrupted, fault.Unavailable, "status 409", false},
		{"501", status(501, canaryKey), 1, "", llm.Interrupted, fault.Unavailable, "status 501", false},
		{"204", status(204, ""), 1, "", llm.Interrupted, fault.Unavailable, "status 204", false},
		{"gzip", func(w http.ResponseWriter, _ *http.Request, k llm.Kind) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, hello[k]+goodbye[k])
			_ = z.Close()
		}, 1, "", llm.Interrupted, fault.Unavailable, "compressed", false},
		{"a redirect", func(w http.ResponseWriter, r *http.Request, _ llm.Kind) {
			http.Redirect(w, r, "/elsewhere?key="+canaryKey, http.StatusTemporaryRedirect)
		}, 1, "", llm.Interrupted, fault.Unavailable, "not followed", false},
		{"a flood of lines without an end", events("HELLO", strings.Repeat("data: "+kilobytes+"\n", 1100)), 1, "Hel", llm.Interrupted, fault.Unavailable, "more than 1 MiB", false},
		{"a line without an end", events("HELLO", "data: ", strings.Repeat(kilobytes, 1100)), 1, "Hel", llm.Interrupted, fault.Unavailable, "more than 1 MiB", false},
		{"a comment without an end", events("HELLO", ": ", strings.Repeat(kilobytes, 1100)), 1, "Hel", llm.Interrupted, fault.Unavailable, "more than 1 MiB", false},
		{"a reply without an end", status(200, `{"error":"`+strings.Repeat(kilobytes, 4200)), 1, "", llm.Interrupted, fault.Unavailable, "more than 4 MiB", false},
		{"a complaint without an end", status(400, strings.Repeat(kilobytes, 10_000)), 1, "", llm.Interrupted, fault.Unavailable, "status 400", false},
		{"a header without an end", func(w http.ResponseWriter, _ *http.Request, _ llm.Kind) {
			w.Header().Set("X-Long", strings.Repeat(kilobytes, 100))
			send(w, "x")
		}, 3, "", llm.Interrupted, fault.Unavailable, "broke the connection", true},
	} {
		for _, k := range llm.Kinds {
			t.Run(c.name+"/"+string(k), func(t *testing.T) {
				s := play(t, k, func(w http.ResponseWriter, r *http.Request, _ int) { c.play(w, r, k) })
				h, a, err := s.ask(t.Context())
				if h.text.String() != c.text || a.Finish != c.finish || len(s.requests()) != c.asked {
					t.Errorf("%q, %s, asked %d times: %v", h.text.String(), a.Finish, len(s.requests()), err)
				}
				if c.want == "" && err != nil || c.want != "" && (err == nil || fault.KindOf(err) != c.kind || !strings.Contains(said(err), c.want)) {
					t.Errorf("%s, want %v, %s", said(err), c.kind, c.want)
				}
				if retryable(err) != c.again {
					t.Errorf("may be tried again: %v, want %v", retryable(err), c.again)
				}
				if strings.Contains(said(err), "canary") {
					t.Errorf("the key is in the error: %s", said(err))
				}
			})
		}
	}
}

// TestCHAT24_FloodsTakeNoMemory has a server send as fast as it can.
func TestCHAT24_FloodsTakeNoMemory(t *testing.T) {
	for name, unit := range map[string]string{
		"texts":    "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 1<<10) + "\"}}]}\n\n",
		"comments": ": " + strings.Repeat("x", 1<<10) + "\n\n",
		"lines":    strings.Repeat("\n", 1<<10),
		"calls":    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"x\"}},{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"x\"}}]}}]}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
				send(w, hello[llm.OpenAI])
				for {
					n, err := io.WriteString(w, unit)
					sent += n
					if err != nil {
						return
					}
				}
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h, a, err := s.ask(t.Context())
			runtime.GC()
			runtime.ReadMemStats(&after)
			if a.Finish != llm.Interrupted || fault.KindOf(err) != fault.Unavailable || retryable(err) || !strings.Contains(said(err), "sent more than") {
				t.Errorf("%s %v", a.Finish, err)
			}
			if h.text.Len() > 4<<20 || len(s.requests()) != 1 {
				t.Errorf("%d bytes of text, asked %d times", h.text.Len(), len(s.requests()))
			}
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
		})
	}
}

func TestCHAT22_Retries(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name   string
		status int
		after  string // Retry-After
		fails  int    // before it answers
		pauses []time.Duration
		ok     bool
	}{
		{"408", 408, "", 1, []time.Duration{second / 4}, true}, // half of half a second: the jitter is 0.5
		{"429", 429, "", 2, []time.Duration{second / 4, second / 2}, true},
		{"500", 500, "", 2, []time.Duration{second / 4, second / 2}, true},
		{"502", 502, "", 2, []time.Duration{second / 4, second / 2}, true},
		{"503", 503, "", 3, []time.Duration{second / 4, second / 2}, false},
		{"504", 504, "", 1, []time.Duration{second / 4}, true},
		{"529", 529, "", 1, []time.Duration{second / 4}, true},
		{"seconds", 429, "7", 1, []time.Duration{7 * second}, true},
		{"a date", 503, noon.Add(9 * second).Format(http.TimeFormat), 1, []time.Duration{9 * second}, true},
		{"a date that is over", 503, noon.Add(-9 * second).Format(http.TimeFormat), 1, []time.Duration{0}, true},
		{"an hour", 429, "3600", 1, []time.Duration{30 * second}, true},
		{"nonsense", 429, "soon", 1, []time.Duration{second / 4}, true},
	} {
		for _, k := range llm.Kinds {
			t.Run(c.name+"/"+string(k), func(t *testing.T) {
				s := play(t, k, func(w http.ResponseWriter, _ *http.Request, n int) {
					if n > c.fails {
						send(w, hello[k], goodbye[k])
						return
					}
					if c.after != "" {
						w.Header().Set("Retry-After", c.after)
					}
					w.WriteHeader(c.status)
				})
				h, a, err := s.ask(t.Context())
				if diff := cmp.Diff(c.pauses, s.clock.pauses()); diff != "" {
					t.Error(diff)
				}
				if c.ok && (err != nil || h.text.String() != "Hel" || a.Finish != llm.Stop) {
					t.Errorf("%q %v", h.text.String(), err)
				}
				if !c.ok && (fault.KindOf(err) != fault.Unavailable || !retryable(err)) {
					t.Errorf("%v", err)
				}
				if asked := s.requests(); len(asked) != len(c.pauses)+1 || asked[0].body != asked[len(asked)-1].body {
					t.Errorf("asked %d times", len(asked))
				}
			})
		}
	}
}

// TestCHAT22_Deadlines lets time pass while a server hangs.
func TestCHAT22_Deadlines(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, c := range []struct {
		name  string
		play  func(w http.ResponseWriter, r *http.Request)
		fires []time.Duration
		asked int
		text  string
		want  string
	}{
		{"before the header", hang, []time.Duration{120 * time.Second, 120 * time.Second, 120 * time.Second}, 3, "", "no answer within 2m0s"},
		{"before the first byte", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			send(w, "")
			hang(w, r)
		}, []time.Duration{120 * time.Second, 120 * time.Second, 120 * time.Second}, 3, "", "no answer within 2m0s"},
		{"in the stream", func(w http.ResponseWriter, r *http.Request) {
			send(w, hello[llm.OpenAI])
			hang(w, r)
		}, []time.Duration{60 * time.Second}, 1, "Hel", "stopped in its answer for 1m0s"},
		{"in all", func(w http.ResponseWriter, r *http.Request) {
			send(w, hello[llm.OpenAI])
			hang(w, r)
		}, []time.Duration{300 * time.Second}, 1, "Hel", "longer than 5m0s in all"},
		{"in a complaint", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			send(w, "x")
			hang(w, r)
		}, []time.Duration{300 * time.Second}, 1, "", "longer than 5m0s in all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			arrived := make(chan struct{}, 3)
			s := play(t, llm.OpenAI, func(w http.ResponseWriter, r *http.Request, _ int) {
				arrived <- struct{}{}
				c.play(w, r)
			})
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, after := range c.fires {
					<-arrived
					s.clock.fire(after)
				}
			}()
			h := &heard{}
			a, err := s.Stream(t.Context(), question(), h.take)
			<-done
			if fault.KindOf(err) != fault.Deadline || !retryable(err) || !strings.Contains(said(err), c.want) {
				t.Errorf("%s, want %s", said(err), c.want)
			}
			if a.Finish != llm.Interrupted || len(s.requests()) != c.asked {
				t.Errorf("%s, asked %d times", a.Finish, len(s.requests()))
			}
		})
	}
}

// TestCHAT22_Connecting has dialling fail.
func TestCHAT22_Connecting(t *testing.T) {
	s := play(t, llm.OpenAI, func(http.ResponseWriter, *http.Request, int) {})
	dials := 0
	s.Provider = llm.DialBy(s.Provider, func(context.Context, string, string) (net.Conn, error) {
		dials++
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: slow{}}
	})
	_, a, err := s.ask(t.Context())
	if fault.KindOf(err) != fault.Deadline || !strings.Contains(said(err), "no connection within 5s") || dials != 3 || a.Finish != llm.Interrupted {
		t.Errorf("%s, dialled %d times", said(err), dials)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	p, err := llm.Open(llm.Options{Name: "gone", Kind: llm.OpenAI, Base: "http://" + closed.Addr().String(), Model: "m", Time: newClock().timing()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = p.Stream(t.Context(), question(), (&heard{}).take)
	if fault.KindOf(err) != fault.Unavailable || !retryable(err) || !strings.Contains(said(err), "chat.providers.gone.base") {
		t.Errorf("%s", said(err))
	}
}

type slow struct{}

func (slow) Error() string   { return "i/o timeout" }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

// TestCHAT18_CancelledStreams has the caller leave at every stage. That the server sees its connection closed
// ends the handler; the test would hang if it did not.
func TestCHAT18_CancelledStreams(t *testing.T) {
	for _, k := range llm.Kinds {
		for _, stage := range []string{"before the header", "in the stream", "while deltas are taken"} {
			t.Run(fmt.Sprintf("%s/%s", stage, k), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				closed := make(chan struct{})
				s := play(t, k, func(w http.ResponseWriter, r *http.Request, _ int) {
					defer close(closed)
					if stage == "before the header" {
						cancel()
					} else {
						send(w, hello[k])
					}
					<-r.Context().Done()
				})
				h := &heard{}
				a, err := s.Stream(ctx, question(), func(d llm.Delta) error {
					switch stage {
					case "in the stream":
						cancel()
					case "while deltas are taken":
						_ = h.take(d)
						return errFull
					}
					return h.take(d)
				})
				<-closed
				cancel()
				want := context.Canceled
				if stage == "while deltas are taken" {
					want = errFull
				}
				if !errors.Is(err, want) || a.Finish != llm.Cancelled || len(s.requests()) != 1 || h.deltas > 1 {
					t.Errorf("%s %v, %d deltas, asked %d times", a.Finish, err, h.deltas, len(s.requests()))
				}
			})
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusServiceUnavailable) })
	s.clock.waiting = make(chan struct{})
	go func() { <-s.clock.waiting; cancel() }()
	if _, a, err := s.ask(ctx); !errors.Is(err, context.Canceled) || a.Finish != llm.Cancelled || len(s.requests()) != 1 {
		t.Errorf("in a pause: %s %v", a.Finish, err)
	}
	if _, a, err := s.ask(ctx); !errors.Is(err, context.Canceled) || a.Finish != llm.Cancelled || len(s.requests()) != 1 {
		t.Errorf("before: %s %v", a.Finish, err)
	}
}

var errFull = errors.New("the disk is full")

// TestCHAT24_ACallThatIsNotWhole is heard and not given to be run.
func TestCHAT24_ACallThatIsNotWhole(t *testing.T) {
	s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
		send(w, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\"\"}}]}}]}\n\n")
	})
	h, a, err := s.ask(t.Context())
	if err == nil || a.Finish != llm.Interrupted || len(a.Calls) != 0 || !strings.Contains(h.calls.String(), `{"x"`) || len(s.requests()) != 1 {
		t.Errorf("%+v %v, heard %s", a, err, h.calls.String())
	}
}
