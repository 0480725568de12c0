package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/registry/disk"
	"github.com/slipway-dev/slipway/cluster/registry/places"
)

const (
	// maxPruned bounds the images that are named: an answer is one line.
	maxPruned = 1000
	// maxImage is more than the files of an image take, in bytes.
	maxImage = 1 << 40
)

var errAge = fmt.Errorf("%w: ageMs is negative or too large", protocol.ErrRequest)

// prune removes superseded images from the registry and from the nodes of the main cluster. Those of a node that cannot
// be asked stay.
func (s *session) prune(ctx context.Context, p protocol.Prune) (done protocol.PruneDone, err error) {
	done.Images = []protocol.PrunedImage{}
	age := time.Duration(p.AgeMs) * time.Millisecond
	if p.AgeMs < 0 || age.Milliseconds() != p.AgeMs {
		return done, errAge
	}
	err = s.withHost(func(h *engine.Host) error {
		used, err := h.Images(ctx)
		if err != nil {
			return err
		}
		pruned, err := s.store.Load().Prune(age, p.DryRun)
		if err != nil {
			return err
		}
		for _, image := range pruned {
			add(&done, ofRegistry(image))
		}
		images, problems := h.Main().Prune(nodeconfig.Prune{Age: age, Keep: places.Digests(used), DryRun: p.DryRun})
		for _, node := range slices.Sorted(maps.Keys(images)) {
			for _, image := range images[node] {
				add(&done, ofNode(node, image))
			}
			if problem := problems[node]; problem != nil {
				done.Skipped = append(done.Skipped, protocol.PrunedNode{Node: node, Problem: problem.Error()})
			}
		}
		return nil
	})
	return done, err
}

// add counts an image, and names it if there is room.
func add(done *protocol.PruneDone, image protocol.PrunedImage) {
	done.Bytes += image.Bytes
	if len(done.Images) < maxPruned {
		done.Images = append(done.Images, image)
	} else {
		done.MoreImages++
	}
}

func ofRegistry(image disk.Pruned) protocol.PrunedImage {
	return protocol.PrunedImage{Name: image.Repository, Digest: string(image.Digest), Bytes: image.Size}
}

// ofNode takes nothing else than names and sizes from a node, which may be in the hands of what it was to keep in.
func ofNode(node string, image nodeconfig.PrunedImage) protocol.PrunedImage {
	pruned := protocol.PrunedImage{Node: node, Bytes: min(max(image.Bytes, 0), maxImage)}
	if at, err := places.Of(image.Tag, ""); err == nil {
		pruned.Name = at.Own.Name()
	}
	if id := digest.Digest(image.ID); id.Validate() == nil {
		pruned.Digest = id.String()
	}
	return pruned
}
