# SPDX-License-Identifier: Apache-2.0
"""Run by TensorFlow's own Python: scans a TFRecord file as tf.data does, and prints the
processor seconds as JSON. Counted inside tf.data, so that no Python runs for a record.

    tensorflow_rate.py FILE.tfrecord    then a scan for each line on standard input
"""
import json
import sys
import time

import tensorflow as tf

path = sys.argv[1]
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)


def scan():
    records = tf.data.TFRecordDataset(path, buffer_size=1 << 20)
    begin = time.process_time()
    count = int(records.reduce(tf.constant(0, tf.int64), lambda n, _: n + 1))
    return count, time.process_time() - begin


scan()  # once to trace and to warm up
for line in sys.stdin:  # one scan a line, so that whoever measures can do others in between
    count, seconds = scan()
    print(json.dumps({"records": count, "seconds": seconds}), flush=True)
