// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

// Command main runs the operator: a manager with its controllers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs that log in with a plug-in
	klog "k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	batchv1 "example.com/toy/api/v1"
	"example.com/toy/internal/controller"
	"example.com/toy/internal/manager"
	// +kubebuilder:scaffold:imports
)

// scheme knows the Go types of every kind that the operator works with.
var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(batchv1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

var setupLog = ctrl.Log.WithName("setup") // what kubebuilder's commands insert needs it, too

func main() {
	var flags manager.Flags
	flags.Bind(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(flags.Logger())
	klog.SetLogger(ctrl.Log) // client-go's messages have the same form
	if err := run(flags.Drain(ctrl.SetupSignalHandler()), &flags); err != nil {
		setupLog.Error(err, "The manager failed")
		os.Exit(1)
	}
}

// run runs the manager until ctx ends.
func run(ctx context.Context, flags *manager.Flags) error {
	options, err := flags.Options(scheme)
	if err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("create the manager: %w", err)
	}
	if err := (&controller.CustomSetReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the CustomSet controller: %w", err)
	}
	// +kubebuilder:scaffold:builder
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("add the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("add the readiness check: %w", err)
	}
	return mgr.Start(ctx)
}
