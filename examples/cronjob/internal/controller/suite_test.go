// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	// +slipway:scaffold:imports
)

// testEnv is the control plane that the tests of this package share. Once it runs, testEnv.Config is its
// administrator's.
var testEnv = &envtest.Environment{
	CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
	CRDInstallOptions:     envtest.CRDInstallOptions{MaxTime: 5 * time.Minute}, // ten seconds are few on a busy machine
	ErrorIfCRDPathMissing: true,
}

// stopControlPlane stops what a test has started, if any has.
var stopControlPlane = testEnv.Stop

// TestMain runs the tests of this package, and stops the control plane if one of them has started it.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := stopControlPlane(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the control plane:", err)
		code = 1
	}
	os.Exit(code)
}

// started is what startControlPlane returned.
var started struct {
	sync.Once
	client client.Client
	err    error
}

// controlPlane returns a client of the control plane, which the first test that calls it starts. TestMain cannot start
// it: go test takes a result from its cache unless a file or variable has changed that a test reads. The client reads
// from a cache with the operator's index, as the operator does, and waits until the cache shows what was written
// through it.
func controlPlane(t *testing.T) client.Client {
	t.Helper()
	started.Do(func() { started.client, started.err = startControlPlane() })
	if started.err != nil {
		t.Fatalf("%v\nThis test needs a control plane: `slipway test ./...` or `make test` brings one; "+
			"otherwise set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver.", started.err)
	}
	return started.client
}

func startControlPlane() (client.Client, error) {
	os.Getenv("SLIPWAY_CONTROLLERS") // read by the control plane, and here so that go test knows
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	utilruntime.Must(batchv1.AddToScheme(scheme.Scheme))
	// +slipway:scaffold:scheme

	cfg, err := testEnv.Start()
	if err != nil {
		return nil, fmt.Errorf("start the control plane: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopControlPlane = func() error {
		cancel()
		return testEnv.Stop()
	}
	return startCachedClient(ctx, cfg)
}
