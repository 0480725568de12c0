// Package deploy holds the test of what slipway does with a cluster that it knows nothing of: upstream's API server and
// etcd, without controllers and nodes.
package deploy
