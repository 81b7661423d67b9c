package rpc

import (
	"slices"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// isOff tells whether a setting of protocol.Features is off.
func (s *Server) isOff(setting string) bool { return slices.Contains(s.off, setting) }

// switchedOff returns the error for what is asked for and needs settings of which one is off.
func (s *Server) switchedOff(what string, settings ...string) error {
	for _, setting := range settings {
		if s.isOff(setting) {
			return fault.New(fault.Unavailable, "%s is switched off by the setting %s", what, setting).
				WithHint("set %s to true, and start the daemon again", setting)
		}
	}
	return nil
}

// promptOff returns the error for a prompt that asks for what is switched off.
func (s *Server) promptOff(p *prompt.Params) error {
	if p.Memories > 0 || p.Recall != nil || len(p.AttachedMemoryIDs) > 0 {
		if err := s.switchedOff("what is remembered", protocol.SettingMemoryEnabled); err != nil {
			return err
		}
	}
	if p.Recall != nil && (p.Recall.Mode == prompt.Passive || p.Recall.Mode == prompt.Both) {
		if err := s.switchedOff("recall of the mode "+p.Recall.Mode, protocol.SettingMemoryPassive); err != nil {
			return fault.Under("recall", err)
		}
	}
	if p.Passages > 0 {
		return fault.Under("passages", s.switchedOff("what books say", protocol.SettingBooksEnabled))
	}
	return nil
}
