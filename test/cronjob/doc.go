// Package cronjob holds the example CronJob against what all examples are held against, by package clustertest. It is a
// module of its own: the example depends on nothing of Slipway, and tests that copy it need nothing else.
package cronjob
