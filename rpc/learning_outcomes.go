package rpc

// This file and learning_*.go have the handlers of what is learned from use. A handler turns params into a call of
// context/learn or context/learn/concepts, and its answer into the result. Errors are those of these rooms.

import (
	"cmp"
	"context"
	"strconv"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// learningHandlers has the handlers. Its fields are to be set.
type learningHandlers struct {
	Scorer   *learn.Scorer
	Promoter *learn.Promoter
	Log      *learn.EventLog
	Keeper   *learn.Keeper
	// Detector has a model read a conversation, in what Detection names.
	Detector  *background.OutcomeDetector
	Detection background.DetectorDeps
}

// Outcome is memory.outcome.
func (r *learningHandlers) Outcome(ctx context.Context, by callReader, p protocol.MemoryOutcome) (out protocol.MemoryScored, err error) {
	if p.IDs == nil {
		if p.Signal != "" || p.Confidence != nil {
			return out, fault.Field("signal", "signal and confidence stand beside ids").WithHint("leave them out for the outcome of an answer")
		}
		return scored(r.Scorer.Response(ctx, by.View, learn.AnswerOutcome{
			Takeaway: p.Takeaway, Outcome: p.Outcome, Related: p.Related, ConversationID: p.ConversationID, MessageID: p.MessageID,
			Client: by.Client,
		}))
	}
	if p.ConversationID != "" || p.MessageID != "" || p.Takeaway != "" || p.Related != nil {
		return out, fault.Field("ids", "ids stands beside conversationId, messageId, related or takeaway").
			WithHint("score memories by their ids in one call, and an answer in another")
	}
	return scored(r.Scorer.Outcome(ctx, by.View, learn.Outcome{
		IDs: p.IDs, Outcome: p.Outcome, Signal: cmp.Or(p.Signal, learn.SourceExplicit), Confidence: p.Confidence,
	}))
}

func scored(s *learn.ScoreResult, err error) (out protocol.MemoryScored, _ error) {
	if err != nil {
		return out, err
	}
	out.Scored, out.Takeaway = s.Memories, s.Takeaway
	if out.Scored == nil {
		out.Scored = []record.ScoredMemory{}
	}
	return out, nil
}

// Judge is memory.judge.
func (r *learningHandlers) Judge(ctx context.Context, by callReader, p protocol.MemoryJudge) (out protocol.MemoryJudged, err error) {
	if err := named(p.ConversationID); err != nil {
		return out, err
	}
	d, err := r.Detector.Detect(ctx, r.Detection, by.View, p.ConversationID)
	if err != nil {
		return out, err
	}
	out = protocol.MemoryJudged{Outcome: d.Outcome, Confidence: d.Confidence, Reasoning: d.Reasoning, Scored: []record.ScoredMemory{}}
	if d.Scored != nil {
		out.Scored = append(out.Scored, d.Scored.Memories...)
	}
	return out, nil
}

func named(conversationID string) error {
	if conversationID == "" {
		return fault.Field("conversationId", "conversationId is empty").WithHint("name a conversation by its id or handle")
	}
	return nil
}

// Promote is memory.promote.
func (r *learningHandlers) Promote(ctx context.Context, by callReader, p protocol.MemoryPromote) (out protocol.MemoryPromoted, err error) {
	done, err := r.Promoter.Run(ctx, by.View, p.DryRun)
	if err != nil {
		return out, err
	}
	return protocol.MemoryPromoted(*done), nil
}

// Events is memory.events.
func (r *learningHandlers) Events(ctx context.Context, by callReader, p protocol.MemoryEventFilter) (out protocol.MemoryEvents, err error) {
	q := learn.EventQuery{ID: p.ID, Limit: p.Limit}
	if p.ID != "" {
		if err := entities.CheckID("id", p.ID); err != nil {
			return out, err
		}
	}
	if p.Since != nil {
		q.Since = *p.Since
	}
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return out, err
		}
		if q.Before, err = strconv.ParseInt(m.ID, 10, 64); err != nil || q.Before < 1 {
			return out, badCursorError()
		}
	}
	list, more, err := r.Log.List(ctx, by.View, q)
	out.Events = list
	if more {
		out.NextCursor = pageMark{ID: strconv.FormatInt(list[len(list)-1].Seq, 10)}.Cursor()
	}
	return out, err
}
