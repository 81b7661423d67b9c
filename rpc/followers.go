package rpc

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// startFollowers has the vaults of r followed. What they write is written in the
// rooms, like what a call writes: not while they are being replaced.
func (s *Server) startFollowers(r *Deps) {
	host := vault.Host{Enter: s.entering(r), Progress: s.events.Reading(), Changed: s.HealthChanged}
	if r.Attached != nil && !s.isOff(protocol.SettingBooksEnabled) {
		host.Attached = r.Attached.Wake
		r.Attached.Start(books.Host{
			Enter: host.Enter, Progress: s.events.Reading(), Changed: host.Changed,
			Failed: func(err error) {
				s.log.Warn("attachments of vaults can't be read now; what is left is tried again", "error", fault.Message(err))
			},
		})
	}
	err := r.Vaults.Start(context.Background(), host)
	if err != nil {
		s.log.Error("the vaults that are to be followed can't be read", "error", fault.Message(err))
	}
	s.mu.Lock()
	awaited := slices.Clone(s.awaited)
	s.mu.Unlock()
	for _, req := range awaited {
		if !exists(req.Path) { // one that is there was read, or is not in the backup that these rooms are from
			r.Vaults.Await(context.Background(), req)
		}
	}
}

// entering returns a function that runs work in some rooms, for who works beside the calls.
func (s *Server) entering(d *Deps) func(context.Context, func(context.Context) error) error {
	return func(ctx context.Context, work func(context.Context) error) error {
		return s.use(ctx, func(ctx context.Context, now *Deps) error {
			if now != d {
				return context.Canceled // its own are gone, and it is about to end
			}
			return work(ctx)
		})
	}
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

// Import reads a vault as vault.import does, as soon as the rooms are open. One that
// is waited for is so in the rooms that come after these, too.
func (s *Server) Import(ctx context.Context, req vault.ImportRequest) (res *vault.ImportResult, err error) {
	if req.Await {
		s.mu.Lock()
		s.awaited = append(s.awaited, vault.ImportRequest{Path: req.Path, Name: req.Name, Watch: req.Watch, Await: true})
		s.mu.Unlock()
	}
	err = s.use(ctx, func(ctx context.Context, r *Deps) error {
		defer s.wire.BeginJob("vault.import")()
		res, err = s.follow(ctx, r.Vaults, req)
		return err
	})
	return res, err
}

// DropFormerNames drops what notes were called long ago, see notes.DropFormerNames.
func (s *Server) DropFormerNames(ctx context.Context) error {
	return s.use(ctx, func(ctx context.Context, r *Deps) error { return notes.DropFormerNames(ctx, r.KV, time.Now()) })
}

// KeepMemories archives memories whose time is over, goes on to forget what a stop has left, reads what memories and
// messages speak of, and moves between the tiers what is due. It is to be called each minute or so.
func (s *Server) KeepMemories(ctx context.Context) error {
	return s.use(ctx, func(ctx context.Context, r *Deps) error {
		if err := r.Memory.Resume(ctx, r.Audience.View); err != nil {
			return err
		}
		if _, err := r.Memory.Expire(ctx); err != nil {
			return err
		}
		if _, _, err := r.Facts.Run(ctx); err != nil && ctx.Err() == nil {
			s.log.Debug("a model that finds facts failed", "error", fault.Message(err)) // what waits is tried again
		}
		ctx = context.WithValue(ctx, yield.Key{}, &s.pause)
		if err := r.Concepts.Ready(ctx); err != nil { // of many documents it takes seconds: nobody is to wait for that
			return err
		}
		return r.Learn.Keep(ctx, r.Audience.View(audience.Local), s.pause.idle(s.calls(), time.Now()))
	})
}

// KeepBooks reads the books that a stop has left, unless they are switched off, and removes those whose conversation is
// gone. Attachments of vaults that could not be read are tried again.
func (s *Server) KeepBooks(ctx context.Context) error {
	return s.use(ctx, func(ctx context.Context, r *Deps) error {
		if s.isOff(protocol.SettingBooksEnabled) {
			return r.Books.Sweep(ctx)
		}
		if r.Attached != nil {
			r.Attached.Wake()
		}
		return r.Books.Resume(ctx)
	})
}

// follow reads a vault and tells those who subscribed to index.progress how far
// it has come.
func (s *Server) follow(ctx context.Context, vaults *vault.Importer, req vault.ImportRequest) (*vault.ImportResult, error) {
	if req.DryRun {
		return vaults.Import(ctx, req)
	}
	tell := s.events.Indexing()
	own := req.Progress
	vault := ""
	req.Named = func(name string) { vault = name }
	req.Progress = func(stage string, done, total int) {
		tell(protocol.IndexProgress{Stage: stage, Done: int64(done), Total: int64(total), Vault: vault})
		if own != nil {
			own(stage, done, total)
		}
	}
	return vaults.Import(ctx, req)
}
