package records

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// synonyms is ctxd memory synonyms.
type synonyms struct {
	Set    putSynonyms    `cmd:"" help:"Have words mean the same."`
	List   listSynonyms   `cmd:"" help:"List the words that mean the same."`
	Delete deleteSynonyms `cmd:"" help:"Have words mean the same as others no more."`
}

// Help is what --help says of the command.
func (synonyms) Help() string {
	return "A search of memories for one of the words finds the others too, a little behind. " +
		"Put several words into quotes where they stand for one: \"user experience\"."
}

// Examples are those of --help.
func (synonyms) Examples() []term.Example {
	return []term.Example{
		{`ctxd memory synonyms set ux "user experience"`, "an acronym"},
		{"ctxd memory synonyms list", "all of them"},
		{"ctxd memory synonyms delete ux", "one word of a set"},
	}
}

// someWords are the argument of commands that take words.
type someWords struct {
	Words []string `arg:"" help:"The words, each an argument of its own."`
}

type putSynonyms struct {
	someWords
	Private bool `help:"Keep them from models on other machines."`
}

func (putSynonyms) Help() string {
	return "Words that have synonyms already get more of them. Private ones are kept apart from the others."
}

func (putSynonyms) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory synonyms set car automobile", "two words"},
		{`ctxd memory synonyms set boss "Zoe Quist" --private`, "kept from models on other machines"},
	}
}

func (c *putSynonyms) Run(a *MemoryOptions) error {
	return a.With(func(cl *client.Client) error {
		var set record.Synonyms
		err := cl.Call(a.Ctx, "synonyms.put", protocol.SynonymsPut{Words: c.Words, Private: c.Private}, &set)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(set)
		}
		a.Out.Say(synonymLine(&set)...)
		return nil
	})
}

// synonymLine shows a set.
func synonymLine(set *record.Synonyms) term.Line {
	line := term.Line{term.Text(strings.Join(set.Words, " = "))}
	if set.Private {
		line = append(line, term.Styled(term.Warn, "  private"))
	}
	return line
}

type listSynonyms struct{ connect.Audience }

func (listSynonyms) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory synonyms list", "all of them"},
		{"ctxd memory synonyms list --audience remote", "those that a model on another machine may know of"},
	}
}

func (c *listSynonyms) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var list protocol.SynonymsList
		if err := cl.Call(a.Ctx, "synonyms.list", protocol.ReadAll{}, &list); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(list)
		}
		if len(list.Synonyms) == 0 {
			a.Out.Say(term.Styled(term.Faint, "there are no synonyms; ctxd memory synonyms set WORD OTHER makes some"))
		}
		for _, set := range list.Synonyms {
			a.Out.Say(synonymLine(set)...)
		}
		return nil
	})
}

type deleteSynonyms struct{ someWords }

func (deleteSynonyms) Help() string {
	return "They are taken out of all sets, also private ones. A word that is left alone goes too."
}

func (deleteSynonyms) Examples() []term.Example {
	return []term.Example{{"ctxd memory synonyms delete ux", "what it meant stays without it"}}
}

func (c *deleteSynonyms) Run(a *MemoryOptions) error {
	return a.With(func(cl *client.Client) error {
		var out protocol.SynonymsDeleted
		err := cl.Call(a.Ctx, "synonyms.delete", protocol.SynonymsDelete{Words: c.Words}, &out)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(out)
		}
		if out.Deleted == 0 {
			a.Out.Say(term.Styled(term.Faint, "none of these words has synonyms"))
			return nil
		}
		a.Out.Say(term.Text(term.Count(out.Deleted, "synonym") + " deleted"))
		return nil
	})
}
