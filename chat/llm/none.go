package llm

import (
	"context"
	"fmt"
)

// Nobody is the provider of the kind none: it answers that there is none, and how to get one.
func Nobody() Provider { return none{} }

type none struct{}

func (none) Stream(ctx context.Context, r *Request, emit func(Delta) error) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{Finish: Cancelled}, err
	}
	if err := r.check(); err != nil {
		return Answer{Finish: Interrupted}, err
	}
	return nobody("No provider of language models is configured.", "set chat.provider, and chat.providers.NAME.base "+
		"or chat.providers.NAME.key, in the configuration; ctxd config --help lists the settings", emit)
}

func (none) Info() Info { return Info{Name: string(None), Kind: None, Local: true} }

func (none) Close() {}

// nobody answers in the place of a model that could not be asked. It is no failure: the message
// is kept, and the report shows what a model would have got.
func nobody(why, how string, emit func(Delta) error) (Answer, error) {
	text := fmt.Sprintf("Nobody answers: %s\n\nYour message is kept. To get an answer, %s.", why, how)
	a := Answer{Finish: Stop, NoProvider: true}
	if err := emit(Delta{Text: text}); err != nil {
		a.Finish = Cancelled
		return a, err
	}
	return a, nil
}
