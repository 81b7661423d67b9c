package rpc

import (
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// rerankerInfo says how what scores hits anew is, nil for nothing.
func rerankerInfo(r embed.Reranker) *protocol.RerankerInfo {
	if r == nil {
		return nil
	}
	st := r.Status()
	info := &protocol.RerankerInfo{
		Kind: string(st.Kind), State: st.State, Why: st.Why, Device: st.Device, Remote: st.Remote, Restarts: st.Restarts,
	}
	if st.Model != nil {
		info.Name = st.Model.Name
	}
	return info
}
