package cri

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Sharer is a [Starter] that makes memory shared by a pod's containers, which each has at /dev/shm.
type Sharer interface {
	// ShareMemory mounts the memory at dir.
	ShareMemory(dir string) error
	// ReleaseMemory unmounts it. Running containers keep theirs.
	ReleaseMemory(dir string) error
}

const (
	memoryFolder = "shm"
	pathMemory   = "/dev/shm"
)

// share makes the pod's shared memory, if the starter can.
func (s *sandbox) share(starter Starter) error {
	sharer, ok := starter.(Sharer)
	if !ok {
		return nil
	}
	dir := filepath.Join(s.dir, memoryFolder)
	if err := os.Mkdir(dir, folderMode); err != nil {
		return fmt.Errorf("make the pod's shared memory: %w", err)
	}
	if err := sharer.ShareMemory(dir); err != nil {
		return err
	}
	s.memory = []wire.Mount{{Source: dir, Target: pathMemory}}
	return nil
}

// release unmounts the memory. The pod's folder cannot be removed before.
func (s *sandbox) release(starter Starter) error {
	sharer, ok := starter.(Sharer)
	if !ok {
		return nil
	}
	var errs []error
	for _, m := range s.memory {
		errs = append(errs, sharer.ReleaseMemory(m.Source))
	}
	return errors.Join(errs...)
}
