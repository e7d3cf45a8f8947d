"""One adapter per framework, all of one shape; each translates, and computes nothing of its own.

A framework that asks a model itself has the modules

* `arguments`: what a user types, as conversations, settings and a reward (`read_arguments`),
* `tasks`: a conversation as the framework's own kind of task, and back,
* `run`: the framework's classes and functions that send the requests,
* `scores`: the replies as the framework's own kind of metrics (`score_replies`),
* `logs`: the framework's logs as rollouts, and so as result files (`rollouts_from`).

One that is stepped through has `env`, and what is around it. One that only calls a function is a single
module. Each names the versions with which it was tested in `TESTED`, and imports its framework as late as it
can.
"""
