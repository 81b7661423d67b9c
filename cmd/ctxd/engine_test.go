package main

import (
	"errors"
	"log/slog"

	"github.com/ctxd/ctxd/rpc"
)

// openRooms opens the rooms over the data in a folder, for who serves them in
// this process.
func openRooms(dir string, log *slog.Logger, limits roomLimits) (*rpc.Rooms, error) {
	ahead := readIndexAhead(dir)
	db, err := openData(dir, storeConfig{}, log, nil)
	if err != nil {
		return nil, err
	}
	rooms, err := roomsOver(db, limits, finding{ahead: ahead}, log)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return rooms, nil
}
