package send

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
)

// sending is one call of Send.
type sending struct {
	*Pipeline
	ctx     context.Context // of the call; Cancel ends it too
	asker   *audience.View
	params  turn.ChatSend
	to      Listener
	mine    *inProgress
	timings *timings

	conversation *record.Conversation // nil before a new one is made
	maxContext   int                  // tokens
	noRoom       bool                 // for tools
	provider     llm.Provider
	info         llm.Info
	facts        llm.ModelFacts // of the model, as its server tells
	reader       *audience.View // as who the provider reads
	attached     attached
	read         tools.OrderReading   // of the message
	ordered      *tools.RoutedMessage // what is proposed for that; nil: nothing
	prompt       *prompt.Result
	prompted     time.Time     // when it was made
	gathers      prompt.Params // what it was made of, without the searches
	privacy      uint64        // of the reader, from before what the provider is told was made
	secret       bool          // a remote reader would have been given another prompt
	turn         *chat.Turn
	answer       chat.Answer     // but for its texts, before it has ended
	content      strings.Builder // of the answer so far
	thoughts     strings.Builder
	usage        record.ChatUsage
	nobody       bool   // no provider was asked, and the answer says why
	replayed     string // the last answer that the model was told again
	moved        bool   // a local provider answered before, and what this one is not given is told before it answers
	release      func() // ends what was begun in a conversation that was not named
	seq          int
	looked       uint64 // Privacy of a remote reader when it was seen last whether the answer is private
	keeper       *keeper
}

func (s *sending) run(ctx context.Context) (*turn.ChatSent, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if s.conversation != nil {
		if err := s.begin(ctx, s.asker, s.conversation.ID, s.mine); err != nil {
			return nil, err
		}
		defer s.end(s.conversation.ID, s.mine)
	}
	var err error
	if s.turn, err = s.opts.Chat.Repeat(ctx, s.asker, s.question()); err != nil {
		return nil, err
	}
	if s.turn != nil {
		return s.stored(), nil
	}
	defer func() { s.release() }()
	err = s.assemble(ctx)
	if errors.Is(err, errAnswered) {
		return s.stored(), nil
	}
	if err != nil {
		return nil, err
	}
	s.timings.lap("assemble")
	s.timings.distilled(&s.prompt.Report)
	if err := s.order(ctx); err != nil {
		return nil, err
	}
	s.called(s.mine, s.turn.AnswerID)
	s.to.Begin(s.turn.Conversation.ID, s.mine.private)
	return s.give(ctx)
}

func (s *sending) question() chat.Question {
	return chat.Question{
		ConversationID: s.params.ConversationID, Content: s.params.Text, ClientMessageID: s.params.ClientMessageID,
		Private: s.params.Private, Replaces: s.params.Replaces, ParentID: s.params.ParentID, Regenerate: s.params.Regenerate,
		Empty: s.attached.any(), Public: !s.info.Local, Told: s.referring(),
	}
}

// referring says how the model is told what the message refers to, within what the message itself leaves of its
// context; nil: the answer keeps nothing that it stands on.
func (s *sending) referring() *chat.ReferenceNotice {
	if !s.tracked() {
		return nil
	}
	room := s.maxContext*llm.BytesPerToken - len(s.params.Text) - s.attached.bytes()
	return &chat.ReferenceNotice{Bytes: max(0, min(chat.MaxReferenceNotice, room)), Tools: s.offersTools()}
}

// notTracked has the answer say why what it keeps of references is not whole; nil: it is.
func (s *sending) notTracked(err error) {
	if err != nil {
		s.warn(chat.ReferencesMember, "What the answer stands on could not be kept whole: %s", fault.Message(err))
	}
}

// offersTools reports whether the model may call tools.
func (s *sending) offersTools() bool {
	return (s.params.Tools == nil || *s.params.Tools) && !s.facts.NoTools && !s.noRoom
}

// fitTools has no tools be offered where they do not fit into the context of the model beside so many bytes and an answer: a
// server would leave out the beginning of what it is told.
func (s *sending) fitTools(beside int) {
	if !s.offersTools() {
		return
	}
	for _, t := range s.tools() {
		beside += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	s.noRoom = beside > (s.maxContext-s.maxContext/answerShare)*llm.BytesPerToken
}

// errAnswered says that the message was answered before.
var errAnswered = errors.New("the message has an answer")

// store stores the message, when all that is found for it is known and before a model is asked. The error is errAnswered
// for one that has its answer.
func (s *sending) store(ctx context.Context) error {
	s.timings.lap("assemble")
	q := s.question()
	if s.tracked() {
		links, err := s.opts.Chat.Links(ctx, s.asker, q.Content)
		q.Links = &links
		s.notTracked(err)
		s.timings.lap("references")
	}
	var err error
	s.turn, err = s.opts.Chat.Ask(ctx, s.asker, q)
	if errors.Is(err, chat.ErrPrivate) {
		err = s.notLocal()
	}
	if err != nil {
		return err
	}
	s.timings.lap("store")
	if s.turn.Answer != nil {
		return errAnswered
	}
	if s.conversation == nil { // the message may be one of a conversation after all
		if err := s.begin(ctx, s.asker, s.turn.Conversation.ID, s.mine); err != nil {
			return err
		}
		s.release = func() { s.end(s.turn.Conversation.ID, s.mine) }
	}
	return nil
}

// prepare decides who answers and as who he reads, and checks what can be checked before anything is done.
func (s *sending) prepare(ctx context.Context) (err error) {
	named, model := s.params.Provider, s.params.Model
	if s.params.ConversationID != "" {
		if s.conversation, err = s.opts.Chat.Get(ctx, s.asker, s.params.ConversationID); err != nil {
			return fault.Under("conversationId", err)
		}
		if named == "" {
			named = s.conversation.Provider
			model = cmp.Or(model, s.conversation.Model)
		}
	}
	s.params.Model = model
	if s.params.Intents == nil || *s.params.Intents {
		s.read = tools.ReadOrders(s.params.Text)
	}
	if s.commands() {
		s.provider = llm.Nobody()
	} else if s.provider, err = s.opts.Providers.Provider(named); err != nil {
		return err
	}
	s.info = s.provider.Info()
	s.reader = s.asker
	if !s.info.Local {
		s.reader = s.opts.Views.View(audience.Remote)
	}
	if err := s.attach(ctx); err != nil {
		return err
	}
	if !s.info.Local && (s.params.Private || s.conversation != nil && s.conversation.Private) {
		return s.notLocal()
	}
	s.facts = s.opts.Providers.Facts(ctx, s.info.Name, model)
	s.maxContext = s.contextOf(s.conversation)
	// Until it is known what goes into an answer, one of a local provider is private.
	s.mine.private = !s.reader.Hides() || s.params.Private
	if n := llm.Estimate(len(s.params.Text) + s.attached.bytes()); n > int64(s.maxContext) {
		why := "shorten it, or raise maxContext of the conversation"
		if s.maxContext == s.facts.Context {
			why = fmt.Sprintf("the server of %s tells that its model takes no more: shorten the text, start the server with a larger context, "+
				"or set maxContext of the conversation where it is wrong", s.info.Name)
		}
		return fault.TooLarge("text", int(n), s.maxContext, "tokens").WithHint("%s", why)
	}
	s.fitTools(len(s.params.Text) + s.attached.bytes())
	return nil
}

// contextOf is how many tokens the model is given in a conversation, nil for a new one: what the person has set, else the usual,
// or less where the server tells that the model takes less.
func (s *sending) contextOf(c *record.Conversation) int {
	if c != nil && !c.UsualContext {
		return c.MaxContext
	}
	if told := s.facts.Context; told > 0 && told < chat.DefaultMaxContext {
		return told
	}
	return chat.DefaultMaxContext
}

// budgets have the prompt leave room in a context that is smaller than the usual: the other half is for what is said.
func (s *sending) budgets() *prompt.ParamBudgets {
	if told := s.facts.Context; told == 0 || told != s.maxContext {
		return nil
	}
	total := s.maxContext * llm.BytesPerToken / 2
	return &prompt.ParamBudgets{Total: &total}
}

// attach reads what is attached. A message with a private file is private.
func (s *sending) attach(ctx context.Context) (err error) {
	if s.attached, err = attach(&s.params, s.asker.Hides()); err != nil || s.opts.IsPrivate == nil {
		return err
	}
	look := func(path, text string) {
		if err == nil && !s.params.Private {
			s.params.Private, err = s.opts.IsPrivate(ctx, path, text)
		}
	}
	for _, image := range s.params.Images {
		look(image.Path, "")
	}
	for _, f := range s.attached.files {
		look(f.Path, f.Text)
	}
	return err
}

// notLocal refuses what a remote model may not be asked.
func (s *sending) notLocal() error {
	return fault.Field("provider", "what is said is private, and the provider %s is not local", s.info.Name).
		WithHint("choose a provider with local: true, or make the conversation public with chat.patch")
}

// searchedFor says what the stages of a prompt search for.
var searchedFor = map[string]string{"search": "notes", "memories": "memories and messages", "passages": "passages of books"}

// assemble makes the prompt, and stores the message on the way: a search must not find the message itself, and a model
// that shortens what was found is asked after the message is durable. What a search that takes too long
// would have found is not in the prompt.
func (s *sending) assemble(ctx context.Context) error {
	if s.commands() {
		s.prompt, s.prompted = &prompt.Result{}, s.opts.Now()
		return s.store(ctx)
	}
	text := s.params.Text
	anew, err := s.opts.Chat.Anew(ctx, s.asker, s.question())
	if err != nil {
		return err
	}
	if anew != nil {
		if anew.Private && !s.info.Local { // before a word of it is searched for
			return s.notLocal()
		}
		text = anew.Content
	}
	p := prompt.Params{
		Text: text, MentionedNoteIDs: s.params.MentionedNoteIDs, MentionedEntityIDs: s.params.MentionedEntityIDs,
		AttachedMemoryIDs: s.params.AttachedMemoryIDs, CalendarEvents: s.params.CalendarEvents, ActionItems: s.params.ActionItems,
		Memories: DefaultMemories, SearchNotes: DefaultSearchNotes, Passages: DefaultPassages, Budgets: s.budgets(), Now: true,
		DeadlineMS: min(max(1, int(s.opts.GatherTimeout.Milliseconds())), prompt.MaxDeadlineMS),
	}
	if s.params.Passages != nil {
		p.Passages = *s.params.Passages
	}
	if s.params.Memories != nil {
		p.Memories = *s.params.Memories
	}
	if s.opts.NoMemories {
		p.Memories = 0
	}
	if s.opts.NoBooks {
		p.Passages = 0
	}
	if s.params.SearchNotes != nil {
		p.SearchNotes = *s.params.SearchNotes
	}
	if s.conversation != nil {
		p.ConversationID = s.conversation.ID
		p.Place = prompt.HistoryPlace{Behind: s.params.ParentID, Instead: cmp.Or(s.params.Replaces, s.params.Regenerate)}
		if p.Memories > 0 && !s.opts.NoPassive {
			p.Recall = &prompt.Recall{Mode: prompt.Both}
		}
	}
	s.gathers, s.privacy = p, s.reader.Privacy()
	s.gathers.SearchNotes, s.gathers.Memories, s.gathers.Passages, s.gathers.Recall = 0, 0, 0, nil
	by := gather.Readers{Prompt: s.reader, Report: s.asker}
	public := s.preview(ctx, p)
	var other *prompt.Result
	found := func() error {
		if public != nil {
			other = <-public
		}
		return s.store(ctx)
	}
	var plain string
	s.prompt, plain, err = s.opts.Prompts.AssembleThen(ctx, by, p, found)
	if err != nil {
		return err
	}
	for _, st := range s.prompt.Report.Stages {
		if strings.HasPrefix(st.Why, prompt.TookLonger) {
			s.warn("search", "the search for %s took longer than %s, so the model was given none that it would have found",
				searchedFor[st.Name], s.opts.GatherTimeout)
		}
	}
	s.prompted = s.opts.Now()
	s.secret = public != nil && (other == nil || other.System != plain)
	return nil
}

// preview makes, beside the prompt, the one that a remote reader would be given. It must not be made later: a search
// would find the message itself, once that is stored. The channel gives nil where it can't be made; it is nil itself
// where the provider reads as a remote reader anyway. Neither of the two that are compared was distilled.
func (s *sending) preview(ctx context.Context, p prompt.Params) <-chan *prompt.Result {
	if s.reader.Hides() {
		return nil
	}
	remote := s.opts.Views.View(audience.Remote)
	out := make(chan *prompt.Result, 1)
	if s.conversation != nil && s.conversation.Private {
		out <- nil
		return out
	}
	go func() {
		res, err := s.opts.Prompts.Preview(yield.Never(ctx), gather.Readers{Prompt: remote, Report: remote}, p)
		if err != nil {
			res = nil
		}
		out <- res
	}()
	return out
}

// stored is the result of a message that was answered before.
func (s *sending) stored() *turn.ChatSent {
	a := s.turn.Answer
	return &turn.ChatSent{
		ConversationID: s.turn.Conversation.ID, Content: a.Content, UserMessage: s.turn.Question, AssistantMessage: a,
		References: a.References, Actions: orEmpty(a.Actions), Warnings: orEmpty(a.Warnings), Timings: s.timings.all(), Repeat: true,
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// warn has the answer say what went otherwise. Before the answer begins nobody is told yet.
func (s *sending) warn(about, format string, args ...any) {
	s.answer.Warnings = append(s.answer.Warnings, record.ChatWarning{About: about, Message: fmt.Sprintf(format, args...)})
}

// emit tells of a piece of the answer.
func (s *sending) emit(kind, text string, data *turn.ChatDeltaData) error {
	s.seq++
	s.look()
	d := turn.ChatDelta{
		ConversationID: s.turn.Conversation.ID, MessageID: s.turn.AnswerID, Seq: s.seq, Type: kind, Text: text, Data: data,
	}
	if s.seq == 1 {
		d.ClientMessage = s.params.ClientMessageID
	}
	return s.to.Delta(s.ctx, d)
}

// look sees whether the answer has become private, which remote readers may follow until then.
func (s *sending) look() {
	now := s.opts.Views.View(audience.Remote).Privacy()
	if s.mine.private || now == s.looked {
		return
	}
	s.looked = now
	hidden, err := s.opts.Chat.Hidden(context.WithoutCancel(s.ctx), s.turn, s.answer.StandsOn)
	if err == nil && !hidden {
		return
	}
	s.hide(s.mine)
	s.to.Hide(turn.ChatDelta{
		ConversationID: s.turn.Conversation.ID, MessageID: s.turn.AnswerID, Seq: s.seq, Type: turn.Done,
		Data: &turn.ChatDeltaData{Finish: record.FinishInterrupted},
	})
}

// messages are what was said before and the message itself, as the provider is told it.
func (s *sending) messages(ctx context.Context, tools []llm.Tool) ([]llm.Message, error) {
	last := llm.Message{Role: llm.User, Text: s.told(s.turn.Question.Content), Images: s.attached.images}
	files := s.attached.text(s.told)
	last.Text += files
	t := s.answer.Trace
	t.Attached = chat.TraceAttachments{Images: len(s.attached.images), Files: len(s.attached.files), Chars: prompt.Chars(files)}
	s.withoutTold(&last)
	taken := len(s.system()) + len(last.Text)
	for _, t := range tools {
		taken += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	most := s.contextOf(s.turn.Conversation)
	room := (most-most/answerShare)*llm.BytesPerToken - taken
	h, err := s.opts.Chat.History(ctx, s.reader, s.asker, s.turn, max(room, 0))
	if errors.Is(err, chat.ErrPrivate) {
		err = s.notLocal()
	}
	if err != nil {
		return nil, err
	}
	var list []llm.Message
	became := "" // of what was proposed since the last message of the user
	for i, m := range h.Messages {
		said := llm.Message{Role: llm.Assistant, Text: s.told(m.Content) + h.Told[i]}
		if m.Role != record.RoleAssistant {
			said.Role, said.Text, became = llm.User, became+said.Text, ""
		} else {
			s.replayed = m.ID // which stands on the answers before it
		}
		list = append(list, said)
		t.History.Chars += prompt.Chars(said.Text)
		became += s.became(m.Actions)
		s.answer.Private = s.answer.Private || m.Private
	}
	last.Text = became + s.proposedNow() + last.Text + h.Last
	s.answer.Private = s.answer.Private || h.Private
	t.History.Messages, t.History.Dropped, t.History.Withheld = len(list), h.Dropped, h.Withheld
	if h.Dropped && len(h.Messages) > 0 {
		t.History.First = h.Messages[0].ID
	}
	if h.Dropped {
		s.warn("maxContext", "the conversation is longer than the %d tokens that the model is given: its first part was left out", most)
	}
	s.withhold(h)
	return append(list, last), nil
}

// withoutTold leaves out what the server tells that its model does not take, and says so.
func (s *sending) withoutTold(last *llm.Message) {
	if n := len(last.Images); s.facts.NoImages && n > 0 {
		last.Images, s.answer.Trace.Attached.Refused = nil, n
		s.warn("images", "%s says that this model takes no images, so it was asked without", s.info.Name)
	}
	if s.facts.NoTools && s.conversation == nil { // once a conversation
		s.warn("tools", "%s says that this model calls no tools, so it was asked without", s.info.Name)
	}
}

// told returns a text as the provider is told it. Where a remote reader would have been told another one, the names
// that it leaves out for him go into the answer, which is private then.
func (s *sending) told(text string) string {
	shown := s.reader.TextOf("", text)
	if !s.reader.Hides() && !s.answer.Private {
		s.answer.Private = s.opts.Views.View(audience.Remote).TextOf("", text) != text
	}
	return shown
}

// answerShare is the part of the context that an answer has for itself.
const answerShare = 8

// system is the system prompt: what the conversation says, and what was gathered.
func (s *sending) system() string {
	text := s.prompt.System
	if own := strings.TrimSpace(s.told(s.turn.Conversation.SystemPrompt)); own != "" {
		text = own + "\n\n" + text
	}
	if s.opts.Unscored != nil && s.opts.Unscored(s.asker, s.turn.Conversation.ID) {
		text = strings.TrimSpace(text+"\n\n"+askOutcome) + "\n"
		if s.offersTools() && s.scorer() != nil {
			text += "When the user has said so, call record_response.\n"
		}
	}
	return text
}

// askOutcome has a model ask how it went.
const askOutcome = "The user has not said whether the last answer helped: ask about it in one short sentence at the end."

func withRef(err error, ref string) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	named := *f
	named.Ref = ref
	return &named
}
