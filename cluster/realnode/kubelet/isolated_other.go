//go:build !linux

package kubelet

import (
	"errors"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

var errLinux = errors.New("namespaces are those of Linux")

func prepareIsolated() (nodeconfig.Config, *nodeconfig.Requests, error) {
	return nodeconfig.Config{}, nil, errLinux
}

func isolatedPlatform(nodeconfig.Config) (*platform, error) { return nil, errLinux }
