package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Data reports who wrote the data of a durable cluster.
type Data struct {
	Kubernetes string `json:"kubernetes"` // the newest version that had them
	Program    string `json:"program"`    // the program's own version then
}

func (c Cluster) dataFile() string { return filepath.Join(c.Dir, "data.json") }

// HasData reports whether there are data that are kept.
func (c Cluster) HasData() bool {
	_, err := os.Stat(filepath.Join(c.Dir, "etcd"))
	keep, _ := c.Keeps()
	return err == nil && keep
}

// Data returns who wrote the data; ok is false if that is not known.
func (c Cluster) Data() (d Data, ok bool, err error) {
	text, err := os.ReadFile(c.dataFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Data{}, false, nil
	case err != nil:
		return Data{}, false, denied(err)
	}
	return d, json.Unmarshal(text, &d) == nil, nil
}

// WriteData remembers who is going to write the data.
func (c Cluster) WriteData(d Data) error { return write(c.dataFile(), d, safefs.Write) }

const (
	// leastSpace is what a cluster needs to start: its journal is allocated in advance.
	leastSpace = 32 << 20
	// fullDisk is the space below which writes can be expected to have failed.
	fullDisk  = 8 << 20
	spaceHint = "free space, or set SLIPWAY_STATE to a folder on another disk"
)

// CheckSpace refuses a disk on which a cluster cannot start.
func (c Cluster) CheckSpace() error {
	free, known := safefs.FreeSpace(c.Dir)
	if !known || free >= leastSpace {
		return nil
	}
	return &report.Error{What: "the disk has too little space for a cluster", Where: c.Dir, Hint: spaceHint,
		Err: fmt.Errorf("%d MiB are free, a cluster needs %d MiB", free>>20, leastSpace>>20)}
}

// DiskFull reports whether the disk is so full that writes are likely to have failed.
func (c Cluster) DiskFull() bool {
	free, known := safefs.FreeSpace(c.Dir)
	return known && free < fullDisk
}
