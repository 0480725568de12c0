package cri

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Sharer is a [Starter] that makes memory for all containers of a pod, which each of them has as /dev/shm.
type Sharer interface {
	// ShareMemory makes it at a folder.
	ShareMemory(dir string) error
	// ReleaseMemory takes it away; containers that run keep what they have of it.
	ReleaseMemory(dir string) error
}

const (
	memoryFolder = "shm"
	pathMemory   = "/dev/shm"
)

// share makes the memory that a pod's containers share, where the starter can.
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

// release takes the memory away, without which the pod's folder cannot go.
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
