package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// configFile is how the configuration is called in the cluster's folder.
const configFile = "config.json"

// Config is the path of the configuration that the program is started with.
func (c Cluster) Config() string { return filepath.Join(c.Dir, configFile) }

// WriteConfig writes the configuration. That of a durable cluster is on the disk when it returns; for that of another
// one [Cluster.Sync] waits.
func (c Cluster) WriteConfig(config protocol.Config) error {
	to := safefs.WriteCache
	if config.Durable {
		to = safefs.Write
	}
	return write(c.Config(), config, to)
}

// Sync waits until the configuration is on the disk: without it slipway cannot know whether the data are to be kept.
func (c Cluster) Sync() error {
	if err := safefs.Sync(c.Config()); err != nil {
		return denied(err)
	}
	return nil
}

// ErrUnknown says that there are data, and that the configuration does not say whether they are to be kept.
var ErrUnknown = errors.New("its configuration cannot be read")

// LastConfig returns the configuration of the last start; known is false if there is none, and no data either. With
// data and without a configuration that can be read the error is [ErrUnknown].
func (c Cluster) LastConfig() (config protocol.Config, known bool, err error) {
	text, err := os.ReadFile(c.Config())
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	switch {
	case err == nil:
		return config, true, nil
	case c.data():
		return protocol.Config{}, false, fmt.Errorf("%w: %w", ErrUnknown, reason(err))
	}
	return protocol.Config{}, false, nil
}

// reason leaves out the path of a file, which is told besides.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Keeps reports whether the cluster's data outlive its end: those of a durable cluster do, and, with [ErrUnknown],
// those of one whose configuration cannot be read.
func (c Cluster) Keeps() (bool, error) {
	config, known, err := c.LastConfig()
	return err != nil || known && config.Durable, err
}

// data tells whether there is anything that could be lost, be it to be kept or not. What cannot be looked at is there.
func (c Cluster) data() bool {
	for _, name := range []string{"etcd", "registry"} {
		if _, err := os.Lstat(filepath.Join(c.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}
