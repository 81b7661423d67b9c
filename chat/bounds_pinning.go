package chat

// pinsByMemory are the conversations that pin a memory, by its id. It belongs to who guards it.
type pinsByMemory map[string]map[string]bool

// Add enters what a conversation pins.
func (p pinsByMemory) Add(conversationID string, memoryIDs []string) {
	for _, id := range memoryIDs {
		if p[id] == nil {
			p[id] = make(map[string]bool)
		}
		p[id][conversationID] = true
	}
}

// Remove takes back what Add entered.
func (p pinsByMemory) Remove(conversationID string, memoryIDs []string) {
	for _, id := range memoryIDs {
		delete(p[id], conversationID)
		if len(p[id]) == 0 {
			delete(p, id)
		}
	}
}
