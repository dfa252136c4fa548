"""`ridge ceilings`: measured once, reused, refreshed; a table and one JSON document; figures or reasons, no clocks judged."""
import json
import os
import tempfile

from _e2e import Check, ridge

check = Check()
with tempfile.TemporaryDirectory() as folder:
    os.environ['XDG_CACHE_HOME'] = folder
    first = ridge('ceilings', '-t', 2, '--json')
    check.that(first.code == 0, first)
    doc = json.loads(first.out)
    check.that(doc['schema'] == 'ridge-ceilings/1' and doc['fingerprint'], first)
    check.that([r['n_threads'] for r in doc['read']] == [1, 2], 'read bandwidth by threads 1 and 2\n%s' % first)
    for name in ('int8', 'bf16', 'f32'):
        peak = doc['peaks'][name]
        check.that((peak['core_ops_s'] is None) == (peak['reason'] is not None), '%s: a figure or a reason: %s' % (name, peak))
    kept = os.listdir(os.path.join(folder, 'ridge'))
    check.that(len(kept) == 1, 'one file is kept, found %s' % kept)
    second = ridge('ceilings', '-t', 2, '--json')
    check.that(second.out == first.out, 'what is kept must be reused')
    table = ridge('ceilings', '-t', 2)
    for word in ('threads', 'GB/s', 'int8', 'bf16', 'f32', 'one core', '--refresh'):
        check.that(word in table.out, 'the table must have %s\n%s' % (word, table))
    again = ridge('ceilings', '-t', 2, '--refresh')
    check.that(again.code == 0 and 'measured now' in again.out, again)
    check.refusal(2, ridge('ceilings', '-t', '-1'), '-1')
check.finish()
