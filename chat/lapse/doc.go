// Package lapse says which proposed actions have expired (CHAT-21). One that was found expired stays so while the daemon
// runs, whatever the clock says later. Up to 100,000 of them are remembered, by their ids. Lapsed takes O(1) and may be
// called concurrently; package chat has one Lapses for its life, and stores the status when somebody decides.
package lapse
