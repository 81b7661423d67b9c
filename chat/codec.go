package chat

import (
	"encoding/json"
	"errors"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Messages are many, long and never changed, so they are no JSON: the content of one that was read is
// a part of the stored record and is in memory once. What later versions add stands as JSON at the
// end. The first messages and places of format 9 were JSON, and are read as that.

var (
	messageAsJSON = membersCodec(func(m *message) *UnknownMembers { return &m.UnknownMembers })
	placeAsJSON   = kv.JSON[place]()
)

// isJSON reports whether a record is JSON. No other one of more than a byte begins so: a message has its
// form there, a place a number, which is not longer.
func isJSON(stored string) bool { return len(stored) > 1 && stored[0] == '{' }

// messageForm begins a message.
const messageForm = 1

var messageCodec = kv.Codec[message]{
	Encode: func(m *message) (string, error) {
		b := make([]byte, 0, len(m.Content)+256)
		b = append(b, messageForm)
		b = disk.AppendText(b, m.ID)
		b = disk.AppendUint(b, uint64(m.Index))
		b = disk.AppendUint(b, uint64(m.PublicIndex))
		b = disk.AppendText(b, m.Hash)
		b = disk.AppendText(b, m.Role)
		b = disk.AppendText(b, m.Content)
		b, err := disk.AppendTime(b, m.CreatedAt)
		if err != nil {
			return "", err
		}
		if b, err = disk.AppendTime(b, m.AddedAt); err != nil {
			return "", err
		}
		b = disk.AppendText(b, m.Finish)
		b = disk.AppendText(b, m.ClientMessageID)
		if len(m.Members) > 0 {
			more, err := json.Marshal(m.Members)
			if err != nil {
				return "", err
			}
			b = append(b, more...)
		}
		return string(b), nil
	},
	Decode: func(stored string) (*message, error) {
		if isJSON(stored) {
			return messageAsJSON.Decode(stored)
		}
		r := disk.RecordReader{Rest: stored}
		form := r.Byte()
		m := &message{
			ID: r.Text(), Index: r.Int(), PublicIndex: r.Int(), Hash: r.Text(), Role: r.Text(), Content: r.Text(),
			CreatedAt: r.Time(), AddedAt: r.Time(), Finish: r.Text(), ClientMessageID: r.Text(),
		}
		if form != messageForm || r.Bad {
			return nil, errors.New("it is no message")
		}
		if r.Rest != "" {
			if err := json.Unmarshal([]byte(r.Rest), &m.Members); err != nil {
				return nil, err
			}
		}
		return m, nil
	},
}

// placeCodec writes a place as a number.
var placeCodec = kv.Codec[place]{
	Encode: func(p *place) (string, error) {
		n := uint64(p.Index) << 1
		if p.Private {
			n |= 1
		}
		return string(disk.AppendUint(nil, n)), nil
	},
	Decode: func(stored string) (*place, error) {
		if isJSON(stored) {
			return placeAsJSON.Decode(stored)
		}
		r := disk.RecordReader{Rest: stored}
		n := r.Int()
		if r.Bad || r.Rest != "" {
			return nil, errors.New("it is no place of a message")
		}
		return &place{Index: n >> 1, Private: n&1 == 1}, nil
	},
}
