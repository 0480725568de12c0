package clusterctl

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// Storage is how much of the disk the images and volumes of a cluster take, in bytes.
type Storage struct {
	Registry   int64 `json:"registryBytes"`        // contents of the image registry
	NodeImages int64 `json:"nodeImageBytes"`       // images of real nodes, unpacked
	Volumes    int64 `json:"volumeBytes"`          // data of PersistentVolumes
	Incomplete bool  `json:"incomplete,omitempty"` // some files could not be counted, or not in time
}

// measureLimit bounds how long files are counted. Volumes may have millions of them.
const measureLimit = 2 * time.Second

// Storage measures the files of the cluster called name, at most for [measureLimit].
func (c *Control) Storage(ctx context.Context, name string) (*Storage, error) {
	cl, err := c.cluster(name)
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, measureLimit)
	defer cancel()
	s := &Storage{}
	s.Registry = s.measure(limit, cl.Registry())
	for _, dir := range cl.NodeImages() {
		s.NodeImages += s.measure(limit, dir)
	}
	s.Volumes = s.measure(limit, cl.Volumes())
	return s, ctx.Err()
}

// measure adds up the sizes of the files below a folder, which need not be there. It follows no links.
func (s *Storage) measure(ctx context.Context, dir string) (bytes int64) {
	skip := func(err error) error {
		s.Incomplete = s.Incomplete || !errors.Is(err, fs.ErrNotExist) // what is removed meanwhile counts for nothing
		return nil
	}
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return skip(err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return skip(err)
		}
		bytes += info.Size()
		return nil
	})
	s.Incomplete = s.Incomplete || err != nil
	return bytes
}
