package chat

// Bounds say what may be said of a conversation and of a message: the settings of a conversation with their sizes,
// titles, ids that clients give, times, and pins. What breaks a bound is refused with an error that names the member
// and says what to do. Makers of titles and imports check by the same functions as the Store.
//
// They hold nothing, and are safe for concurrent use.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// Sizes of what is said of a conversation.
const (
	MaxTitle        = 200      // code points
	MaxClientID     = 200      // bytes of an id that a client gives
	maxSystemPrompt = 64 << 10 // bytes
	maxModelName    = 200      // code points of the name of a model
	maxPins         = 100      // notes, and memories, that a call pins

	DefaultMaxContext = 32_768 // tokens
	minContext        = 1_000
	maxContext        = 10_000_000
	maxTemperature    = 2
)

// Settings are what can be set of a conversation; what is nil stays.
type Settings struct {
	Title        *string // empty: that of the first message of a user again, also where a model had made one
	Private      *bool
	SystemPrompt *string  // empty: none
	Provider     *string  // empty: the one that is configured
	Model        *string  // empty: the one that is configured
	MaxContext   *int     // tokens
	UsualContext bool     // DefaultMaxContext again
	Temperature  *float64 // NaN: that of the model

	// Pins replace those that the reader sees. Each id counts once.
	PinnedNotes    *[]string
	PinnedMemories *[]string
}

// Check refuses what a conversation can't have, and what a reader does not see: remembers reports whether he sees a memory.
// The errors are Invalid, Limit and NotFound, and name the member.
func (set *Settings) Check(v *audience.View, remembers func(id string) bool) error {
	if set.Title != nil {
		if err := checkTitle(*set.Title); err != nil {
			return err
		}
	}
	if err := set.CheckModel(); err != nil {
		return err
	}
	err := checkPins("pinnedNoteIds", "note", set.PinnedNotes, func(id string) bool { return v.Note(id) != nil })
	if err != nil {
		return err
	}
	return checkPins("pinnedMemoryIds", "memory", set.PinnedMemories, remembers)
}

// CheckModel checks what is said of the model and to it.
func (set *Settings) CheckModel() error {
	if set.SystemPrompt != nil {
		switch p := *set.SystemPrompt; {
		case !utf8.ValidString(p):
			return fault.Field("systemPrompt", "systemPrompt is not UTF-8").WithHint("give text in UTF-8")
		case len(p) > maxSystemPrompt:
			return fault.TooLarge("systemPrompt", len(p), maxSystemPrompt, "bytes").WithHint("give a shorter text")
		}
	}
	if err := cmp.Or(checkNoKey("provider", set.Provider), checkNoKey("model", set.Model)); err != nil {
		return err
	}
	if set.Provider != nil && *set.Provider != "" {
		if err := entities.CheckID("provider", *set.Provider); err != nil {
			return err
		}
	}
	if set.Model != nil {
		m := *set.Model
		if !utf8.ValidString(m) || strings.ContainsFunc(m, unicode.IsControl) {
			return fault.Field("model", "model is no name in one line").WithHint("give the name by which its provider knows it")
		}
		if n := utf8.RuneCountInString(m); n > maxModelName {
			return fault.TooLarge("model", n, maxModelName, "characters").WithHint("give the name by which its provider knows it")
		}
	}
	if n := set.MaxContext; n != nil && (*n < minContext || *n > maxContext) {
		return fault.Field("maxContext", "maxContext is %d", *n).
			WithHint("give a number of tokens from %d to %d", minContext, maxContext)
	}
	if t := set.Temperature; t != nil && (*t < 0 || *t > maxTemperature) {
		return fault.Field("temperature", "temperature is %g", *t).WithHint("give a number from 0 to %d", maxTemperature)
	}
	return nil
}

// checkNoKey refuses a name that looks like a key, which is then neither kept nor shown.
func checkNoKey(field string, name *string) error {
	if name == nil || !llm.LooksLikeKey(*name) {
		return nil
	}
	return fault.Field(field, "%s looks like a key, and is no name", field).
		WithHint("chat.providers.NAME.key in the configuration says where a key is found; replace one that was shown")
}

// checkPins refuses pins that are too many, and those that a reader does not see. The errors name the field.
func checkPins(field, sort string, ids *[]string, seen func(id string) bool) error {
	if ids == nil {
		return nil
	}
	if n := len(*ids); n > maxPins {
		return fault.TooLarge(field, n, maxPins, "items").WithHint("pin less: a prompt has room for few")
	}
	for i, id := range *ids {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := entities.CheckID(at, id); err != nil {
			return err
		}
		if !seen(id) {
			err := fault.Missing(sort, id).WithHint("leave it out")
			err.Field = at
			return err
		}
	}
	return nil
}

// replacePins replaces pins. Those that a reader does not see stay, behind the others, when there are records that are
// kept from him.
func replacePins(pins, ids *[]string, sees func(string) bool, v *audience.View, changed *bool) {
	if ids == nil {
		return
	}
	var now []string
	for _, id := range *ids {
		if !slices.Contains(now, id) {
			now = append(now, id)
		}
	}
	for _, id := range *pins {
		if v.Hides() && !sees(id) && !slices.Contains(now, id) {
			now = append(now, id)
		}
	}
	if !slices.Equal(*pins, now) {
		*pins, *changed = now, true
	}
}

// filterStrings returns what of a list passes a test.
func filterStrings(list []string, test func(string) bool) []string {
	out := make([]string, 0, len(list))
	for _, x := range list {
		if test(x) {
			out = append(out, x)
		}
	}
	return out
}

// checkTitle refuses what no title may be.
func checkTitle(title string) error {
	if !utf8.ValidString(title) {
		return fault.Field("title", "title is not UTF-8").WithHint("give text in UTF-8")
	}
	if n := utf8.RuneCountInString(title); n > MaxTitle {
		return fault.TooLarge("title", n, MaxTitle, "characters").WithHint("give a shorter title")
	}
	return nil
}

// firstTime is before any program that somebody could chat with.
var firstTime = time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)

// maxAhead is how far the clock of a client may be ahead.
const maxAhead = 24 * time.Hour

// checkClientID refuses what no id of a client may be. The errors name the field.
func checkClientID(field, id string) error {
	if len(id) > MaxClientID {
		return fault.TooLarge(field, len(id), MaxClientID, "bytes").WithHint("give a shorter id")
	}
	if !utf8.ValidString(id) {
		return fault.Field(field, "%s is not UTF-8", field).WithHint("give text in UTF-8")
	}
	return nil
}

// checkTime refuses a time at which nothing was said: before there were programs to say it to, and after now. The clock of a
// client may be a day ahead.
func checkTime(t, now time.Time) error {
	if plausibleTime(t, now) {
		return nil
	}
	return fault.Field("createdAt", "createdAt is before 1960 or in the future").
		WithHint("give the time at which it was said; without one it is the present time")
}

// plausibleTime reports whether something may have been said at a time. See Time.
func plausibleTime(t, now time.Time) bool {
	return !t.Before(firstTime) && !t.After(now.Add(maxAhead))
}
