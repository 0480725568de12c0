// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

// Hub makes this version of CronJob the one that the others are converted to and from.
func (*CronJob) Hub() {}
