//go:build !linux

package kubelet

import (
	"errors"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

var errLinux = errors.New("namespaces are those of Linux")

func beginIsolated() (nodeconfig.Config, error) { return nodeconfig.Config{}, errLinux }

func isolatedGround(nodeconfig.Config) (*ground, error) { return nil, errLinux }
