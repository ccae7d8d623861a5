import type { AskedPackage } from './ask-questions.ts';

/**
 * Packages that were unknown to us when their questions were written. The words of the questions come from
 * the documentation of the packages; the answers were found with grep and by reading.
 */
export const SECOND_HELD_OUT_PACKAGES: readonly AskedPackage[] = [
  {
    name: 'commons-csv 1.12.0 (Maven, Java)',
    fetch: [
      [
        'mvn',
        '-q',
        'dependency:get',
        '-Dartifact=org.apache.commons:commons-csv:1.12.0:jar:sources',
        '-Dtransitive=false',
        '-Dmaven.repo.local=m2',
      ],
      [
        'unzip',
        '-qo',
        'm2/org/apache/commons/commons-csv/1.12.0/commons-csv-1.12.0-sources.jar',
        '-d',
        'commons-csv',
      ],
    ],
    folder: 'commons-csv',
    questions: [
      ['where is CSVParser?', ['org/apache/commons/csv/CSVParser.java:143']],
      ['where is the enum QuoteMode defined?', ['org/apache/commons/csv/QuoteMode.java:22']],
      ['where is CSVFormat.Builder?', ['org/apache/commons/csv/CSVFormat.java:185']],
      ['which class defines printRecordObject?', ['org/apache/commons/csv/CSVPrinter.java:308']],
      ['where is CSVFormat.RFC4180?', ['org/apache/commons/csv/CSVFormat.java:1312']],
      ['what does isConsistent do?', ['Tells whether the record size matches the header size.']],
      ['what does QuoteMode.MINIMAL do?', ['Quotes fields that contain special characters']],
      ['what is ExtendedBufferedReader?', ['A special buffered reader which supports sophisticated read']],
      ['explain DuplicateHeaderMode', ['Determines how duplicate header fields should be handled']],
      ['what does CSVRecord.putIn do?', ['Puts all values of this record into the given Map.']],
      ['what calls nullToDisabled?', ['Lexer.java:55', 'Lexer.java:56', 'Lexer.java:57']],
      ['who calls handleNull?', ['CSVParser.java:456']],
      ['where is parseEncapsulatedToken called?', ['Lexer.java:283']],
      ['how does Lexer.parseSimpleToken work?', ['Lexer.java:399']],
      ['how do CSVParser and CSVPrinter differ?', ['CSVParser.java:143', 'CSVPrinter.java:76']],
      ['what is the difference between withTrim and withSkipHeaderRecord?', ['CSVFormat.java:3134', '3066']],
      ['what does Token.java contain?', ['class Token', 'Type']],
      ['who last changed CSVParser?', null],
      ['where is CSVParser.rewind?', null],
      ['can it read Excel files?', null],
    ],
  },
  {
    name: 'smallvec 1.13.2 (crates.io, Rust)',
    fetch: [['cargo', 'vendor', '-q']],
    folder: 'vendor/smallvec',
    questions: [
      ['what is this crate?', ['store up to a small number of items on the stack']],
      ['where is SmallVec defined?', ['src/lib.rs:768']],
      ['where is the trait Array?', ['src/lib.rs:2321']],
      ['where is the macro smallvec_inline!?', ['src/lib.rs:233']],
      ['which file defines debug_unreachable?', ['src/lib.rs:247']],
      ['where is SmallVec::try_grow?', ['src/lib.rs:1173']],
      ['where is DrainFilter::keep_rest?', ['src/lib.rs:581']],
      ['what does swap_remove do?', ['Remove the element at position `index`, replacing it with the last']],
      [
        'what does SmallVec::spilled return?',
        ['Returns `true` if the data has spilled into a separate heap'],
      ],
      ['what is CollectionAllocErr?', ['Error type for APIs with fallible heap allocation']],
      ['what does SetLenOnDrop do?', ['Set the length of the vec when the `SetLenOnDrop` value goes out']],
      ['describe shrink_to_fit', ['Shrink the capacity of the vector as much as possible.']],
      [
        'what calls infallible?',
        ['src/lib.rs:1167', 'src/lib.rs:1220', 'src/lib.rs:1231', 'src/lib.rs:1255'],
      ],
      ['what uses SetLenOnDrop::new?', ['src/lib.rs:1831', 'src/lib.rs:2069']],
      ['callers of layout_array', ['src/lib.rs:338', 'src/lib.rs:1187', 'src/lib.rs:1198']],
      ['how does retain work?', ['src/lib.rs:1520', 'Retains only the elements specified by the predicate.']],
      ['compare push with insert_many', ['src/lib.rs:1114', 'src/lib.rs:1391']],
      ['what are its dependencies?', ['Cargo.toml']],
      ['when was SmallVec::push changed?', null],
      ['does SmallVec beat Vec in every benchmark?', null],
    ],
  },
];
