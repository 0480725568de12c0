// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	// +kubebuilder:scaffold:imports
)

// The tests of this package share one control plane, of which k8sClient is an administrator's client. It
// reads from a cache with the operator's index, as the operator does, and waits until the cache shows what
// was written through it.
var (
	cfg       *rest.Config
	k8sClient client.Client
)

// TestMain runs the tests of this package against a control plane of their own.
func TestMain(m *testing.M) {
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		fmt.Fprintln(os.Stderr, "These tests need a control plane: `slipway test ./...` or `make test` brings one; "+
			"otherwise set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver.")
		code = 1
	}
	os.Exit(code)
}

func runSuite(m *testing.M) (int, error) {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	utilruntime.Must(batchv1.AddToScheme(scheme.Scheme))
	// +kubebuilder:scaffold:scheme

	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	var err error
	if cfg, err = env.Start(); err != nil {
		return 0, fmt.Errorf("start the control plane: %w", err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the control plane:", err)
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if k8sClient, err = startCachedClient(ctx, cfg); err != nil {
		return 0, fmt.Errorf("create a client: %w", err)
	}
	return m.Run(), nil
}
